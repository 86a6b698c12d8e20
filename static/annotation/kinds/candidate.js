/* Choosing a name where it stands in the text. Its label chooses it without this script too; here
   the focus stays where the reader is, every mention of the choice stands out, and the choice is
   told in the bar at the bottom. */
(() => {
  "use strict";

  const page = document.querySelector("[data-work]");
  const announcer = document.getElementById("announcer");
  const chosen = () => page.querySelector("[data-answer-form] [name=option]:checked");

  function show() {
    const line = page.querySelector("[data-answer-form] [data-chosen]"), option = chosen();
    if (!line) return;
    const source = option && document.getElementById(`option-text-${option.value}`);
    line.hidden = false;
    // A name that ends in a full stop needs no other behind it.
    const label = option ? line.dataset.label : line.dataset.none;
    const [, before, stop, after] = /^(.*)\{text\}([.\u3002\u0964]?)(.*)$/.exec(label) || [];
    line.textContent = label;
    if (option) {
      const name = document.createElement("bdi"), { lang } = source.closest("[lang]");
      Object.assign(name, { lang, textContent: source.textContent });
      line.replaceChildren(before, name, name.textContent.endsWith(".") ? "" : stop, after);
    }
    for (const name of page.querySelectorAll("[data-answer-form] mark.mention")) {
      const options = name.dataset.options.split(" ");
      name.classList.toggle("is-chosen", option !== null && options.includes(option.value));
    }
  }

  /* Behind a long text the list is a tap away, and so is the place where the reader was. */
  let place = null;

  function offerList() {
    const button = page.querySelector("[data-to-names]"), bar = page.querySelector(".send");
    place = null;
    if (!button) return;
    button.hidden = false;
    const list = page.querySelector(".options"), { bottom } = list.getBoundingClientRect();
    button.hidden = getComputedStyle(list).position === "sticky"
      || bottom <= window.innerHeight - bar.offsetHeight;
  }

  page.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-to-names]");
    if (!button) return;
    const back = place;
    place = back === null ? window.scrollY : null;
    if (back === null) page.querySelector(".options").scrollIntoView({ block: "end" });
    else window.scrollTo(0, back);
    [button.textContent, button.dataset.back] = [button.dataset.back, button.textContent];
  });

  /* A browser gives a tap to a neighbour within the finger's radius; the pointer's own
     coordinates stay true. */
  let finger = null;
  page.addEventListener("pointerup", ({ pointerType, clientX, clientY }) => {
    finger = pointerType === "mouse" ? null : document.elementFromPoint(clientX, clientY);
  }, true);
  page.addEventListener("pointerdown", () => { finger = null; }, true);

  const nameAt = (element) => element?.closest("[data-answer-form] .context label");

  page.addEventListener("click", (event) => {
    const label = nameAt(finger) || nameAt(event.target);
    finger = null;
    if (!label || label.closest("[inert]")) return;
    event.preventDefault();
    event.stopPropagation();
    label.control.checked = true;
    label.control.dispatchEvent(new Event("change", { bubbles: true }));
    announcer.textContent = page.querySelector("[data-chosen]").textContent;
  }, true);

  for (const kind of ["change", "answershown"]) page.addEventListener(kind, show);
  page.addEventListener("answerplaced", offerList);
})();
