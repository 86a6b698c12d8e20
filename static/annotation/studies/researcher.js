// A link or a message in a read-only field: once focused it is selected, and a button copies it. A list that is
// renewed by itself waits while somebody has opened a part of it.
(() => {
  "use strict";

  document.addEventListener("focusin", (event) => {
    if (event.target.matches("[data-copy]")) event.target.select();
  });

  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target } = event.detail;
    if (elt === target && elt.querySelector("details[open]")) event.preventDefault();
  });

  function addCopyButton(field) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button r-copy";
    button.textContent = field.dataset.copy;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(field.value);
      button.textContent = field.dataset.copied;
      setTimeout(() => (button.textContent = field.dataset.copy), 2000);
    });
    field.after(button);
  }

  document.addEventListener("DOMContentLoaded", () => {
    // Browsers give the clipboard to pages over HTTPS alone, and to this machine's own.
    if (!navigator.clipboard) return;
    document.querySelectorAll("[data-copy]").forEach(addCopyButton);
  });
})();
