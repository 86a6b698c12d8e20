/* How a typed number is read, shown before it is sent: by the same rules as the server's
   (scoring/core/normalisation.py; a test holds the two together). */
(() => {
  "use strict";

  const MONEY = "[$\u20ac\u00a3\u00a5\u20b9]", UNIT = "\\p{L}+[\u00b2\u00b3]?\\.?";
  const WRITTEN = new RegExp(
    `^(?<sign>[-+\u2212\u2013]?)\\s*(?:${MONEY}|(?:USD|EUR|GBP)\\b)?\\s*(?<inner>[-+\u2212\u2013]?)\\s*`
    + "(?:(?:(?<whole>\\d+)\\s+)?(?<above>\\d+)\\s?[/\u2044]\\s?(?<below>\\d+)"
    + "|(?<number>\\d(?:[\\d.,'\u2019 \u00a0\u202f]*\\d)?|[.,]\\d+)(?<power>[eE][-+]?\\d{1,2})?)\\.?"
    + `(?:\\s*(?:%|${MONEY}))?\\s*\u00b0?(?:-?${UNIT})?(?:[\\s\\/-]+${UNIT}){0,7}\\s*[.!]?$`, "u");
  const SPACES = /[ '\u2019\u00a0\u202f]/g;
  const GROUPED = /^[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:[ '\u2019\u00a0\u202f]\d{3})+(?:[.,]\d+)?)$/;

  /* Without marks of thousands, with a point; empty if it can be read as two. */
  function plain(digits) {
    if (GROUPED.test(digits)) {
      const without = digits.replace(SPACES, "");
      return without.replaceAll(",", without === digits ? "" : ".");
    }
    if (/^[1-9]\d{0,2}(?:\.\d{3}){2,}$/.test(digits)) return digits.replaceAll(".", "");
    return /^\d*[.,]?\d+$/.test(digits) ? digits.replace(",", ".") : "";
  }

  function read(text) {
    const bare = text.trim().replace(/^[*_`]+|[*_`]+$/g, ""), found = WRITTEN.exec(bare);
    if (bare.length > 100 || !found || (found.groups.sign && found.groups.inner)) return "";
    const { sign, inner, whole, above, below, number, power } = found.groups;
    const minus = /[-\u2212\u2013]/.test(sign + inner) ? "-" : "";
    if (above) return Number(below) ? `${minus}${whole ? `${whole} ` : ""}${above}/${below}` : "";
    const value = plain(number);
    // “12.000” is 12, and reads so: for some it would be twelve thousand.
    const digits = value.replace(/^0+(?=\d)/, "").replace(/^\./, "0.");
    const short = value.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
    return value && minus + short + (power || "");
  }

  const page = document.querySelector("[data-work]");
  const field = () => page.querySelector("[data-answer-form] [name=number]");

  function show() {
    const input = field();
    if (!input) return;
    const line = document.getElementById("number-read"), value = read(input.value);
    line.textContent = !input.value.trim() ? ""
      : value ? `${line.dataset.read} ${value}` : line.dataset.unread;
    // A phone's keyboard of digits may lack the minus.
    page.querySelector("[data-negate]").hidden = !window.matchMedia("(pointer: coarse)").matches;
  }

  page.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-negate]")) return;
    const input = field(), text = input.value.trim();
    input.value = /^[-\u2212]/.test(text) ? text.slice(1) : `-${text}`;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  });
  for (const kind of ["input", "answershown"]) page.addEventListener(kind, show);
})();
