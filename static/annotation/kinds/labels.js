/* "None of these" stands alone: whichever of it and the other answers is ticked later counts. */
(() => {
  "use strict";

  const page = document.querySelector("[data-work]") || document;

  page.addEventListener("change", ({ target }) => {
    const item = target.closest("[data-labels]");
    if (!item || !target.checked) return;
    for (const other of item.querySelectorAll(".option input:checked")) {
      if ((target.name === "none") !== (other.name === "none")) other.checked = false;
    }
  }, true); // before the draft is kept
})();
