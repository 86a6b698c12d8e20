// On a phone long tables begin closed, under their headings; without JavaScript all are open.
(() => {
  "use strict";

  if (!matchMedia("(max-width: 40rem)").matches) return;

  const close = () => {
    for (const part of document.querySelectorAll("details[data-closed-on-phones]")) {
      part.open = false;
    }
  };
  close();
  document.addEventListener("htmx:afterSwap", close);
})();
