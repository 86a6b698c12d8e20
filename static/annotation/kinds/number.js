/* How a typed number is read, shown before it is sent: by the same rules as the server's
   (scoring/core/normalisation.py; a test holds the two together). */
(() => {
  "use strict";

  const SIGNS = "[$\u20ac\u00a3\u00a5\u20b9]", MONEY = `(?:${SIGNS}|(?:USD|EUR|GBP)\\b)`, UNIT = "\\p{L}+[\u00b2\u00b3]?\\.?";
  const WRITTEN = new RegExp(
    `^(?<sign>[-+\u2212\u2013]?)\\s*(?<money>${MONEY})?\\s*(?<inner>[-+\u2212\u2013]?)\\s*`
    + "(?:(?:(?<whole>\\d+)\\s+)?(?<above>\\d+)\\s?[/\u2044]\\s?(?<below>\\d+)"
    + "|(?<number>\\d(?:[\\d.,'\u2019 \u00a0\u202f]*\\d)?|[.,]\\d+)(?<power>[eE][-+]?\\d{1,2})?)\\.?"
    + `(?<unit>(?:\\s*(?:%|${SIGNS}))?\\s*\u00b0?(?:-?${UNIT})?(?:[\\s\\/-]+${UNIT}){0,7})\\s*[.!]?$`, "u");
  /* Behind an amount of money alone: else a metre, say. */
  const MULTIPLES_OF_MONEY = new Set(["m", "mm", "b", "t"]);
  /* The letters that count in China. */
  const COUNTING = new RegExp("["
    + "\\u{3405}\\u{3483}\\u{382a}\\u{3b4d}\\u{4e00}\\u{4e03}\\u{4e07}\\u{4e09}\\u{4e5d}\\u{4e8c}"
    + "\\u{4e94}\\u{4e96}\\u{4ebf}\\u{4ec0}\\u{4edf}\\u{4ee8}\\u{4f0d}\\u{4f70}\\u{5104}\\u{5146}"
    + "\\u{5169}\\u{516b}\\u{516d}\\u{5341}\\u{5343}\\u{5344}\\u{5345}\\u{534c}\\u{53c1}\\u{53c2}"
    + "\\u{53c3}\\u{53c4}\\u{56db}\\u{58f1}\\u{58f9}\\u{5e7a}\\u{5efe}\\u{5eff}\\u{5f0c}\\u{5f0d}"
    + "\\u{5f0e}\\u{5f10}\\u{62fe}\\u{634c}\\u{67d2}\\u{6f06}\\u{7396}\\u{767e}\\u{8086}\\u{842c}"
    + "\\u{8cae}\\u{8cb3}\\u{8d30}\\u{9621}\\u{9646}\\u{964c}\\u{9678}\\u{96f6}\\u{f96b}\\u{f973}"
    + "\\u{f978}\\u{f9b2}\\u{f9d1}\\u{f9d3}\\u{f9fd}\\u{20001}\\u{20064}\\u{200e2}\\u{20121}"
    + "\\u{2092a}\\u{20983}\\u{2098c}\\u{2099c}\\u{20aea}\\u{20afd}\\u{20b19}\\u{22390}\\u{22998}"
    + "\\u{23b1b}\\u{2626d}\\u{2f890}" + "]", "u");
  const MARKS = { "\u066b": ".", "\u2010": "-", "\u2011": "-", "\ufe52": ".", "\ufe62": "+", "\ufe63": "-",
    "\uffe5": "\u00a5" };
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

  const isDigit = (letter) => /^\p{Nd}$/u.test(letter);

  /* A digit's value: every script has its ten in a row, and some have several rows in one. */
  function digit(letter) {
    const code = letter.codePointAt(0);
    let before = code;
    while (isDigit(String.fromCodePoint(before - 1))) before -= 1;
    return String((code - before) % 10);
  }

  /* Digits, signs and fractions as ASCII writes them; whatever else stands there stays. */
  const inAscii = (text) => text
    .replace(/[\u00bc-\u00be\u2150-\u215e\u2189]/g, (part) => ` ${part.normalize("NFKC")} `)
    .replace(/\p{Nd}/gu, digit)
    .replace(/[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g, "")
    .replace(/[\u066c\uff0c\ufe50](?=\d{3}(?!\d))/g, ",")
    .replace(/[\u066b\u2010\u2011\ufe52\ufe62\ufe63\uffe5]/g, (mark) => MARKS[mark])
    .replace(/[\uff01-\uff0b\uff0d-\uff5e]/g, (wide) => String.fromCodePoint(wide.codePointAt(0) - 0xfee0))
    .replace(/\u30fc(?=\s*\d)/g, "-").trim();

  /* Whether what stands behind a number makes another number of it. */
  function multiplies(unit, ofMoney) {
    const words = unit.match(/\p{L}+/gu) || [];
    const { multiples, within } = document.getElementById("number-read").dataset;
    const multiple = new RegExp(`^(?:${multiples})$`, "u");
    return COUNTING.test(unit) || /(?<![a-zA-Z])[\u00b2\u00b3]/.test(unit) || new RegExp(within, "u").test(unit)
      || words.some((word) => ["M", "MM", "B"].includes(word) || multiple.test(word.toLowerCase())
        || (ofMoney && MULTIPLES_OF_MONEY.has(word.toLowerCase())));
  }

  function read(text) {
    const bare = text.trim().replace(/^[*_`]+|[*_`]+$/g, ""), found = WRITTEN.exec(inAscii(bare));
    if ([...bare].length > 100 || !found || (found.groups.sign && found.groups.inner)) return "";
    if (multiplies(found.groups.unit, found.groups.money || new RegExp(MONEY).test(found.groups.unit))) return "";
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
    line.textContent = !input.value.trim() ? "" : value ? `${line.dataset.read} ` : line.dataset.unread;
    // Apart, so that its sign stays before it in texts from right to left.
    if (value) line.appendChild(document.createElement("bdi")).textContent = value;
    // A phone's keyboard of digits may lack the minus and the slash of a fraction.
    const hidden = !window.matchMedia("(pointer: coarse)").matches;
    for (const sign of page.querySelectorAll("[data-negate], [data-slash]")) sign.hidden = hidden;
  }

  page.addEventListener("click", ({ target }) => {
    if (!target.closest("[data-negate], [data-slash]")) return;
    const input = field(), text = input.value.trim();
    if (target.closest("[data-slash]")) input.setRangeText("/", input.selectionStart, input.selectionEnd, "end");
    else input.value = /^[-\u2010-\u2013\u2212\u30fc\ufe63\uff0d]/.test(text) ? text.slice(1) : `-${text}`;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  });
  for (const kind of ["input", "answershown"]) page.addEventListener(kind, show);
})();
