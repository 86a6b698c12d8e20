// The annotator's desk: what HTML and htmx cannot do by themselves. Keeps a draft of the
// unsent answer, measures time, sends again what did not arrive, offers single keys.
(() => {
  "use strict";

  const RETRY_MS = [1000, 2000, 4000, 8000];
  const TICK_MS = 500;
  const SHORTCUTS_KEY = "shortcuts-off";
  const DRAFT_PREFIX = "draft:";

  const desk = document.querySelector("[data-desk]");
  const announcer = document.getElementById("announcer");
  const saveState = document.getElementById("save-state");
  const idleAfterMs = 1000 * Number(desk.dataset.idleAfterS || 30);

  let form = null;
  let draft = null;
  let lastAction = 0;
  let lastTick = 0;
  let retries = 0;
  let retryTimer = 0;

  // Storage may be forbidden or full; the page then works without a draft.
  const store = {
    read(key) {
      try {
        return JSON.parse(localStorage.getItem(key));
      } catch {
        return null;
      }
    },
    write(key, value) {
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        /* no draft, no harm */
      }
    },
    clear(prefix, except) {
      try {
        Object.keys(localStorage)
          .filter((key) => key.startsWith(prefix) && key !== except)
          .forEach((key) => localStorage.removeItem(key));
      } catch {
        /* nothing kept, nothing to clear */
      }
    },
  };

  // The draft

  const draftKey = () => DRAFT_PREFIX + form.dataset.draftKey;

  function openForm() {
    form = desk.querySelector("[data-answer-form]");
    if (!form) {
      draft = null;
      store.clear(DRAFT_PREFIX);
      return;
    }
    store.clear(DRAFT_PREFIX, draftKey());
    draft = store.read(draftKey()) || { browser: 0, first: null, active: 0, answer: null };
    lastTick = performance.now();
    lastAction = lastTick;
    if (draft.answer) restoreAnswer(draft.answer);
  }

  function readAnswer() {
    const data = new FormData(form);
    return {
      option: data.get("option"),
      spans: data.get("spans"),
      none: data.get("none"),
      typed: data.get("typed"),
    };
  }

  function restoreAnswer(answer) {
    const option = form.querySelector(`[name=option][value="${CSS.escape(answer.option ?? "")}"]`);
    if (option) option.checked = true;
    const typed = form.querySelector("[name=typed]");
    if (typed && answer.typed) typed.value = answer.typed;
    const picker = form.querySelector("[data-span-picker]");
    if (!picker) return;
    const detail = { spans: JSON.parse(answer.spans || "[]"), none: Boolean(answer.none) };
    picker.dispatchEvent(new CustomEvent("answerrestore", { detail }));
  }

  function keepDraft() {
    if (!form) return;
    draft.answer = readAnswer();
    store.write(draftKey(), draft);
  }

  // Time: seconds in sight, and of these the seconds not idle

  function tick() {
    const now = performance.now();
    const passed = now - lastTick;
    lastTick = now;
    if (!draft || document.hidden) return;
    draft.browser += passed;
    if (now - lastAction <= idleAfterMs) draft.active += passed;
  }

  function act() {
    tick();
    lastAction = performance.now();
    if (draft && draft.first === null) draft.first = draft.browser;
  }

  function fillTimes() {
    tick();
    for (const input of form.querySelectorAll("[data-time]")) {
      const value = draft[input.dataset.time];
      input.value = value === null ? "" : Math.round(value);
    }
  }

  // Sending, and sending again

  function say(state) {
    saveState.textContent = state ? saveState.dataset[state] : "";
    saveState.classList.toggle("is-unsaved", state === "unsaved" || state === "refused");
  }

  function sendAgain(sent) {
    say("unsaved");
    clearTimeout(retryTimer);
    const wait = RETRY_MS[Math.min(retries, RETRY_MS.length - 1)];
    retries += 1;
    retryTimer = setTimeout(() => {
      if (sent.isConnected) sent.requestSubmit();
    }, wait);
  }

  function isBusy() {
    return desk.querySelector("form.htmx-request") !== null;
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.matches("form")) say(retries ? "unsaved" : "saving");
  });
  document.addEventListener("htmx:configRequest", (event) => {
    if (form && event.target === form) {
      fillTimes();
      for (const input of form.querySelectorAll("[data-time]")) {
        event.detail.parameters[input.name] = input.value;
      }
    }
  });
  document.addEventListener("htmx:sendError", (event) => sendAgain(event.target));
  document.addEventListener("htmx:timeout", (event) => sendAgain(event.target));
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    if (status >= 500 || status === 429) sendAgain(event.target);
    else say("refused");
  });
  window.addEventListener("online", () => {
    const waiting = desk.querySelector("[data-answer-form], [data-reveal-form]");
    if (retries && waiting && !isBusy()) {
      clearTimeout(retryTimer);
      waiting.requestSubmit();
    }
  });

  // After a swap: the next step is here, so the last one is stored

  let context = desk.querySelector("[data-context]")?.dataset.context;

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target !== desk) return;
    const refused = event.detail.xhr.status === 422;
    clearTimeout(retryTimer);
    retries = 0;
    say(refused ? "" : "saved");
    openForm();
    prepare();
    const next = desk.querySelector("[data-context]")?.dataset.context;
    if (next !== context) window.scrollTo(0, 0);
    context = next;
    const announced = desk.querySelector("[data-announce]");
    announcer.textContent = announced ? announced.innerText.replace(/\s+/g, " ").trim() : "";
    desk.querySelector("[data-focus]")?.focus({ preventScroll: !announced });
  });

  // Single keys

  const shortcutsOn = () => store.read(SHORTCUTS_KEY) !== true;

  function prepare() {
    const opener = desk.querySelector("[data-shortcuts-open]");
    if (opener) opener.hidden = false;
    const toggle = desk.querySelector("[data-shortcuts-toggle]");
    if (toggle) toggle.checked = shortcutsOn();
    document.documentElement.classList.add("has-keys");
    document.documentElement.classList.toggle("no-shortcuts", !shortcutsOn());
  }

  function isTyping(target) {
    const field = target.closest("input, textarea, select, [contenteditable]");
    return field !== null && !field.matches("[type=radio], [type=checkbox]");
  }

  function pressed(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "?") {
      desk.querySelector("[data-shortcuts]")?.showModal();
      event.preventDefault();
    } else if (shortcutsOn() && form && /^[1-9]$/.test(event.key)) {
      choose(Number(event.key) - 1);
    } else if (shortcutsOn() && form && event.key === "0") {
      form.querySelector("[data-span-none]")?.click();
    } else if (shortcutsOn() && event.key === "Enter" && !event.target.closest("button, a, summary, [data-span-picker]")) {
      event.preventDefault();
      if (!event.repeat && !isBusy()) desk.querySelector("[data-send]")?.click();
    }
  }

  function choose(index) {
    const option = form.querySelectorAll("[name=option]")[index];
    if (!option) return;
    option.checked = true;
    option.focus();
    option.dispatchEvent(new Event("change", { bubbles: true }));
  }

  document.addEventListener("keydown", pressed);
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-shortcuts-open]")) {
      desk.querySelector("[data-shortcuts]").showModal();
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-shortcuts-toggle]")) {
      store.write(SHORTCUTS_KEY, !event.target.checked);
      prepare();
    }
  });

  // A sign of life, and a draft of it

  for (const kind of ["pointerdown", "keydown", "scroll", "pointermove"]) {
    document.addEventListener(kind, kind === "pointermove" || kind === "scroll" ? alive : act, {
      passive: true,
      capture: true,
    });
  }
  function alive() {
    lastAction = performance.now();
  }
  for (const kind of ["change", "input", "answerchange"]) {
    desk.addEventListener(kind, (event) => {
      if (event.target.closest("[data-answer-form]")) keepDraft();
    });
  }
  setInterval(tick, TICK_MS);
  window.addEventListener("pagehide", () => {
    tick();
    keepDraft();
  });
  document.addEventListener("visibilitychange", tick);
  // A page out of the back-forward cache may show a step that is long past.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  openForm();
  prepare();
})();
