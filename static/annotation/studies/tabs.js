// On a phone the row of tabs scrolls: the present one comes into sight.
(() => {
  "use strict";

  document.addEventListener("DOMContentLoaded", () => {
    const row = document.querySelector(".r-tabs");
    const here = row?.querySelector("[aria-current]");
    if (here) row.scrollLeft = here.offsetLeft - (row.clientWidth - here.offsetWidth) / 2;
  });
})();
