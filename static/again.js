// Sends again what the server was too busy to store; without JavaScript there is a button.
(() => {
  "use strict";

  const form = document.querySelector("[data-again-after-s]");
  setTimeout(() => form.requestSubmit(), 1000 * Number(form.dataset.againAfterS));
})();
