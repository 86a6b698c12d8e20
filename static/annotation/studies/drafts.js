// Long texts of a form are kept in the browser until they are stored, and come back after a sign-in.
(() => {
  "use strict";

  // The server may keep the ends of lines, and spaces at the ends of a text, otherwise.
  const plain = (text) => text.replace(/\r\n/g, "\n").trim();

  function keep(field, key) {
    const draft = localStorage.getItem(key);
    if (draft !== null && plain(draft) === plain(field.value)) localStorage.removeItem(key);
    else if (draft !== null) offer(field, key, draft);
    field.addEventListener("input", () => localStorage.setItem(key, field.value));
  }

  function offer(field, key, draft) {
    const stored = field.value;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = "Take the stored text again";
    const note = document.createElement("p");
    note.className = "notice";
    note.setAttribute("role", "status");
    note.append("This is what you wrote here and did not save. ", button);
    button.addEventListener("click", () => {
      field.value = stored;
      localStorage.removeItem(key);
      note.remove();
      field.focus();
    });
    field.value = draft;
    field.before(note);
    for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form[data-drafts]").forEach((form) => {
      const of = `${form.dataset.drafts} ${location.pathname}`;
      form.querySelectorAll("textarea:not([disabled])").forEach((field) => keep(field, `${of} ${field.name}`));
    });
  });
})();
