// Runs at once, before the page's own script is there: what is pressed until then is handed to it.
(() => {
  "use strict";

  const pressed = [];
  const keep = (event) => pressed.push(event);

  document.addEventListener("keydown", keep);
  document.addEventListener("keysready", ({ detail: act }) => {
    document.removeEventListener("keydown", keep);
    pressed.forEach(act);
  }, { once: true });
})();
