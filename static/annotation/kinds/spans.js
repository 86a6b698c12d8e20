/* Choosing phrases of a text: by taps, a drag, or the keyboard alone.

   The page gives [data-span-picker] with one or more [data-segment], a [data-span-status], a
   [data-span-list], the hidden inputs "spans" and "none", and the controls [data-span-undo],
   [data-span-exact] and [data-span-none]; tests/browser/pages/spans.html shows all of it. Every
   sentence is a data-label-… of the picker, {text} and {count} are filled in. A segment tells its
   data-length in code points: where that differs, only the plain way ([data-span-plain]) is there,
   which is closed otherwise; and its data-tokens and data-joined, in code points too:
   annotation/kinds/spans.py makes them.

   Spans are [segment, start, end] in code points. Each change dispatches "answerchange" with
   {spans, none, complete}; "answerrestore" with {spans, none}, sent to the picker, shows another
   answer. The answer's spans stand in the order in which they were chosen, the list in that of the
   text. Before "none" is sent with nothing chosen, "nonechosen" is dispatched: who cancels it wants
   it to be asked for once more, and until then "none" is chosen and not sent.

   Scripts without spaces come in single characters: the browser finds their words, in the text's
   language. Where it knows none they stay characters.

   A tap takes a word; inside a phrase it takes that back. Where one phrase is asked for, a tap
   elsewhere sets its other end. Where several are, a tap beside a phrase adds to it, and a tap
   elsewhere takes another. A phrase that was dragged, whose end was moved, or whose “+” in the list
   was pressed, is finished: nothing is added to it, so that two phrases may
   touch. Single characters are taken from the first to the last: the tap after the first sets the
   other end.

   A drag is less exact than a tap, so it is snapped: it takes every token that it touched, drops
   the punctuation at both ends, but not a bracket or quotation mark whose partner is in the range
   too, and takes in the partner that stands directly outside ("receptor (TCR" becomes "receptor
   (TCR)"). A drag over nothing but punctuation takes just that. */
(() => {
  "use strict";

  // ---- Tokens: where they begin and end, as the server says.

  const touch = (tokens, i) => i >= 0 && tokens[i + 1]?.start === tokens[i].end;

  const numbers = (text) => (text || "").split(" ").filter(Boolean).map(Number);

  /* The words of a segment, from its data-tokens: by turns the length of a gap and that of the
     token behind it, which is negative where the token is punctuation. */
  function wordsOf({ dataset, lang }, points) {
    const lengths = numbers(dataset.tokens), tokens = [];
    let end = 0;
    for (let i = 0; i < lengths.length; i += 2) {
      const start = end + lengths[i];
      end = start + Math.abs(lengths[i + 1]);
      const text = points.slice(start, end).join("");
      tokens.push({ start, end, punctuation: lengths[i + 1] < 0, text });
    }
    return joined(tokens, lang);
  }

  const UNSPACED = [
    "Bopomofo", "Han", "Hiragana", "Katakana", "Khmer", "Lao", "Myanmar", "New_Tai_Lue", "Tai_Tham",
    "Thai",
  ].map((script) => `\\p{Script_Extensions=${script}}`).join("");
  const IS_UNSPACED = new RegExp(`^[${UNSPACED}]`, "u");

  /* With the characters of scripts without spaces as words, where the browser can find them. */
  function joined(tokens, lang) {
    for (const token of tokens) token.single = !token.punctuation && IS_UNSPACED.test(token.text);
    if (!Intl.Segmenter || !tokens.some((token) => token.single)) return tokens;
    const segmenter = new Intl.Segmenter(lang || undefined, { granularity: "word" });
    const words = [];
    for (let i = 0; i < tokens.length; i++) {
      const run = [tokens[i]];
      while (run[0].single && touch(tokens, i) && tokens[i + 1].single) run.push(tokens[i += 1]);
      words.push(...(run[0].single ? cutInWords(run, segmenter) : run));
    }
    return words;
  }

  /* Of the run's tokens; one in which a word ends goes to that word whole. */
  function cutInWords(run, segmenter) {
    const text = run.map((token) => token.text).join(""), words = [];
    let at = 0;
    for (const { segment, index } of segmenter.segment(text)) {
      const end = index + segment.length;
      let word = null;
      for (; at < end && run.length; at += run.shift().text.length) {
        if (word) Object.assign(word, { end: run[0].end, text: word.text + run[0].text });
        else words.push(word = { ...run[0], single: false });
      }
    }
    return words;
  }

  /* Its single characters: each code point, but those of its data-joined (each by its distance
     from the one before) belong to the character before them, such as marks and parts of emoji. */
  function singlesOf({ dataset }, points) {
    const joined = new Set();
    let at = 0;
    for (const step of numbers(dataset.joined)) joined.add(at += step);
    const starts = [...points.keys()].filter((i) => !joined.has(i));
    return starts.map((start, i) => {
      const end = starts[i + 1] ?? points.length;
      return { start, end, text: points.slice(start, end).join("") };
    });
  }

  // ---- Drags: no punctuation at the ends, but the partner of a bracket or quotation mark.

  const FAMILIES = {};
  for (const family of ['"“”„‟＂', "'‘’‚‛", "«»", "‹›"]) {
    for (const mark of family) FAMILIES[mark] = family[0];
  }
  const OPENERS = "([{（［「『【《〈";
  const CLOSED_BY = { '"': '"', "'": "'", "«": "«", "‹": "‹" };
  [...")]}）］」』】》〉"].forEach((closer, i) => { CLOSED_BY[closer] = OPENERS[i]; });

  function markOf(token) {
    const mark = FAMILIES[token.text] || token.text;
    return mark.length === 1 && (OPENERS.includes(mark) || CLOSED_BY[mark]) ? mark : "";
  }

  function pair(tokens, first, last) {
    const waiting = [], paired = new Set(), unopened = new Set();
    for (let index = first; index <= last; index++) {
      const mark = markOf(tokens[index]), opener = CLOSED_BY[mark];
      const at = opener ? waiting.map(([kind]) => kind).lastIndexOf(opener) : -1;
      if (at >= 0) {
        paired.add(waiting[at][1]).add(index);
        waiting.length = at;
      } else if (opener && opener !== mark) unopened.add(opener);
      else if (mark) waiting.push([mark, index]);
    }
    const unclosed = new Set(waiting.map(([kind]) => kind));
    for (const kind of unclosed) if (CLOSED_BY[kind]) unopened.add(kind);
    return { paired, unopened, unclosed };
  }

  /* The token directly after this one, past the sentence's punctuation. */
  function following(tokens, index) {
    while (touch(tokens, index)) {
      index += 1;
      if (!/^[.,:;!?…。，、！？]+$/.test(tokens[index].text)) return index;
    }
    return -1;
  }

  function withPartners(tokens, first, last) {
    for (;;) {
      const { unclosed, unopened } = pair(tokens, first, last), after = following(tokens, last);
      if (after > 0 && unclosed.has(CLOSED_BY[markOf(tokens[after])])) last = after;
      else if (touch(tokens, first - 1) && unopened.has(markOf(tokens[first - 1]))) first -= 1;
      else return [first, last];
    }
  }

  function snap(tokens, first, last) {
    if (tokens.slice(first, last + 1).some((token) => !token.punctuation)) {
      const { paired } = pair(tokens, first, last);
      while (tokens[first].punctuation && !paired.has(first)) first += 1;
      while (tokens[last].punctuation && !paired.has(last)) last -= 1;
    }
    return withPartners(tokens, first, last);
  }

  // ---- Helpers of the page.

  /* The first index from which on the test holds. */
  function search(row, test) {
    let low = 0, high = row.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (test(row[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  function create(name, className, text = "") {
    const element = document.createElement(name);
    element.className = className;
    element.textContent = text;
    return element;
  }

  const box = (token) => token.el.getBoundingClientRect();

  const LINES_APART = 6; // pixels: two tokens of one line may differ by less in their height

  /* The token at this point, or beside it on the nearest line; a token may be broken over lines. */
  function nearest(tokens, x, y, within) {
    const below = search(tokens, (token) => box(token).bottom > y - LINES_APART);
    let best = null, line = Infinity, least = Infinity;
    for (let i = Math.min(below, tokens.length - 1); i < tokens.length; i++) {
      const rows = [...tokens[i].el.getClientRects()];
      for (const { left, right, top, bottom } of rows) {
        const away = Math.round(Math.max(top - y, y - bottom, 0) / LINES_APART);
        const beside = Math.max(left - x, x - right, 0);
        if (away > line || (away === line && beside >= least)) continue;
        [best, line, least] = [tokens[i], away, beside];
      }
      if (rows.every(({ top }) => (top - y) / LINES_APART > line + 1)) break;
    }
    return least < within ? best : null;
  }

  /* The word above or below: of the next line that way, the one nearest to this one's middle. */
  function vertical(tokens, from, step) {
    const own = box(from), near = own.height / 2;
    let line = null, best = null, least = Infinity;
    for (let i = from.place + step; tokens[i]; i += step) {
      const { top, left, right } = box(tokens[i]);
      if (line === null && Math.abs(top - own.top) < near) continue;
      line ??= top;
      if (Math.abs(top - line) > near) break;
      const distance = Math.abs(left + right - own.left - own.right);
      if (distance < least) [best, least] = [tokens[i], distance];
    }
    return best;
  }

  // What joins two words, and a word that a full stop may follow within a name: "Bre-X", "M. Waugh".
  const JOINER = /^[-\u2010-\u2015/]+$/;
  const INITIAL = /^\p{L}{1,2}$/u;
  /* The words beside a place: the next ones to the left and to the right, past what joins them. */
  function neighbours(tokens, place) {
    const joins = (left, between, right) => right && (JOINER.test(between.text)
      || (between.text === "." && INITIAL.test(left?.text)));
    const before = [tokens[place - 1]], after = [tokens[place + 1]];
    if (before[0] && joins(tokens[place - 2], before[0], tokens[place])) before.push(tokens[place - 2]);
    if (after[0] && joins(tokens[place], after[0], tokens[place + 2])) after.push(tokens[place + 2]);
    return { before: before.filter(Boolean), after: after.filter(Boolean) };
  }

  // A tap farther from the one phrase than this begins another: the end would be out of sight.
  const LONGEST_PHRASE = 400; // characters
  const DOUBLE_TAP_MS = 350;

  const inTextOrder = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

  // A text that ends its sentence itself needs no full stop behind it.
  const ENDED = /[.!?…。！？؟۔।]\s*$/;
  const MARKS = ["is-chosen", "is-first", "is-last", "is-ltr", "is-rtl"];
  const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
  const EDGES = {
    "start-earlier": [1, -1], "start-later": [1, 1], "end-earlier": [2, -1], "end-later": [2, 1],
  };

  class Picker {
    constructor(root) {
      this.root = root;
      this.most = Number(root.dataset.maxSpans) || Infinity;
      this.exact = false;
      const inOrder = (a, b) => a.dataset.segment - b.dataset.segment;
      const texts = [...root.querySelectorAll("[data-segment]")].sort(inOrder);
      this.segments = texts.map((el, number) => {
        const points = [...el.textContent], { length } = el.dataset;
        if (length && Number(length) !== points.length) {
          throw new Error(`Segment ${number} shows ${points.length} characters, not ${length}.`);
        }
        el.translate = false; // a browser's translation would move every offset
        return { el, number, points, words: wordsOf(el, points), singles: singlesOf(el, points) };
      });
      this.history = [];
      this.finished = new WeakSet();
      this.spans = [];
      this.none = false;
      this.nameTexts();
      this.build();
      this.listen();
      const spans = JSON.parse(this.input("spans").value || "[]");
      const none = this.input("none").value === "1";
      if (none || spans.length) this.restore({ spans, none });
      else if (this.isFirst) {
        this.say(this.segments.some(({ words }) => words.some((word) => word.single)) && this.most !== 1
          ? "how-singly" : "how");
      }
      root.classList.add("is-ready");
      const plain = root.closest("form")?.querySelector("[data-span-plain]");
      plain?.querySelector("[name=none]")?.closest("label").remove();
      if (plain) plain.open = Boolean(plain.querySelector("[name=typed]").value);
    }

    /* Whether nobody has seen how to choose yet. */
    get isFirst() {
      return this.root.closest("form")?.dataset.first !== undefined;
    }

    find(name) {
      return this.root.querySelector(`[data-span-${name}]`);
    }

    input(name) {
      return this.root.querySelector(`input[type="hidden"][name="${name}"]`);
    }

    listen() {
      const on = (el, type, act, capture) => el?.addEventListener(type, act.bind(this), capture);
      on(this.root, "click", this.onClick, true);
      on(this.root, "pointerup", this.onFinger, true);
      on(this.root, "keydown", this.onKey);
      on(this.root, "pointerdown", this.onDown);
      on(this.root, "answerrestore", (event) => this.restore(event.detail));
      on(this.root.closest("form"), "submit", (event) => this.asksWhich(event) || this.write(), true);
      on(this.find("undo"), "click", this.undo);
      on(this.find("nudge"), "click", ({ target }) => target.value && this.nudge(Number(target.value)));
      on(this.find("exact"), "click", this.toggleExact);
      on(this.find("none"), "click", (event) => event.defaultPrevented || this.chooseNone());
      on(this.find("list"), "click", this.onList);
      for (const type of ["pointerover", "focusin"]) on(this.find("list"), type, this.showItem);
      for (const type of ["pointerleave", "focusout"]) {
        on(this.find("list"), type, () => this.preview());
      }
    }

    // -- For screen readers: the text once to read, and once as a control that takes the keys.

    nameTexts() {
      const label = this.label("text");
      if (!label) return;
      const copies = this.segments.map(({ el }) => {
        const copy = create("p", "span-reading", el.textContent);
        Object.assign(copy, { lang: el.lang, dir: el.dir });
        el.setAttribute("role", "application");
        el.setAttribute("aria-label", label);
        el.setAttribute("aria-describedby", "how-to-choose");
        return copy;
      });
      this.segments[0]?.el.before(...copies);
    }

    // -- The text: every token and every gap between two is a part with an element of its own.

    build() {
      this.previewed = new Set();
      for (const segment of this.segments) {
        segment.tokens = this.exact ? segment.singles : segment.words;
        segment.parts = [];
        segment.painted = [];
        segment.tokens.forEach((token, place) => {
          this.addPart(segment, token.start, "span-gap");
          token.el = this.addPart(segment, token.end, "span-word");
          token.el.token = Object.assign(token, { segment, place });
        });
        this.addPart(segment, segment.points.length, "span-gap");
        const fragment = document.createDocumentFragment();
        for (const part of segment.parts) fragment.append(part.el);
        segment.el.replaceChildren(fragment);
      }
      this.current = null;
      this.rove(this.segments.find((segment) => segment.tokens.length)?.tokens[0]);
    }

    addPart(segment, end, className) {
      const start = segment.parts[segment.parts.length - 1]?.end || 0;
      if (start === end) return null;
      const text = segment.points.slice(start, end).join("");
      const el = create("span", className, text);
      segment.parts.push({ start, end, text, el });
      return el;
    }

    partsOf({ parts }, start, end) {
      const first = search(parts, (part) => part.end > start);
      return parts.slice(first, search(parts, (part) => part.start >= end));
    }

    paint(segment) {
      const spans = this.spans.filter(([number]) => number === segment.number);
      for (const part of segment.painted) {
        part.el.classList.remove(...MARKS);
        if (part.el.firstElementChild) part.el.textContent = part.text;
      }
      const covered = spans.flatMap(([, start, end]) => this.partsOf(segment, start, end));
      segment.painted = [...new Set(covered)];
      for (const part of segment.painted) this.dress(segment, part, spans);
    }

    /* Marks a part, in pieces where a span begins or ends within it. */
    dress(segment, part, spans) {
      const over = spans.filter(([, start, end]) => start < part.end && part.start < end);
      const inner = over.flatMap(([, start, end]) => [start, end])
        .filter((cut) => part.start < cut && cut < part.end);
      const cuts = [...new Set([part.start, ...inner, part.end])].sort((a, b) => a - b);
      const pieces = cuts.slice(1).map((end, i) => {
        const start = cuts[i];
        const text = segment.points.slice(start, end).join("");
        const el = inner.length ? create("span", "", text) : part.el;
        const chosen = over.filter(([, from, to]) => from <= start && end <= to);
        if (chosen.length) el.classList.add("is-chosen");
        // The edges of a name in letters of the other direction lie where these begin and end.
        const [letter] = text.match(/\p{L}/u) || [];
        if (letter) el.classList.add(RIGHT_TO_LEFT.test(letter) ? "is-rtl" : "is-ltr");
        if (chosen.some(([, from]) => from === start)) el.classList.add("is-first");
        if (chosen.some(([, , to]) => to === end)) el.classList.add("is-last");
        return el;
      });
      if (inner.length) part.el.replaceChildren(...pieces);
    }

    preview(range) {
      const parts = range ? this.partsOf(this.segments[range[0]], range[1], range[2]) : [];
      const fresh = new Set(parts), old = this.previewed;
      for (const part of old) if (!fresh.has(part)) part.el.classList.remove("is-preview");
      for (const part of fresh) if (!old.has(part)) part.el.classList.add("is-preview");
      this.previewed = fresh;
    }

    // -- The answer.

    show(spans, none, latest = null) {
      Object.assign(this, { spans, none, latest });
      // Where one phrase is asked for, what was chosen last counts, and not what was typed before.
      const typed = this.root.closest("form")?.querySelector("[name=typed]");
      if (typed && spans.length && this.most === 1) typed.value = "";
      this.draw();
      this.write();
      const detail = { spans, none, complete: none || spans.length > 0 };
      this.root.dispatchEvent(new CustomEvent("answerchange", { bubbles: true, detail }));
    }

    draw() {
      this.sure = false;
      this.preview();
      this.segments.forEach((segment) => this.paint(segment));
      this.drawList();
      this.drawControls();
    }

    write() {
      this.input("spans").value = JSON.stringify(this.spans);
      this.input("none").value = this.none ? "1" : "";
    }

    change(spans, none, latest, ...label) {
      this.history.push([this.spans, this.none]);
      this.show(spans, none, latest);
      this.say(...label);
    }

    restore({ spans, none }) {
      const fits = ([number, start, end]) =>
        0 <= start && start < end && end <= this.segments[number]?.points.length;
      Object.assign(this, { history: [], tapped: null });
      const kept = spans.filter(fits).slice(0, this.most), span = kept.at(-1);
      this.show(kept, Boolean(none) && !spans.length, span ? { span, edge: 2 } : null);
      if (this.spans.length) this.say("chosen", this.spans.map((span) => this.textOf(span)).join(", "));
      else if (this.none) this.say("none");
    }

    /* `latest` says of a span which of its ends was set last, and from which token on. */
    add(span, latest) {
      const text = this.textOf(span);
      this.preview();
      if (!text.trim()) this.say("blank");
      else if (this.has(span)) this.say("duplicate", text);
      else if (this.spans.length && this.most === 1) {
        this.change([span], false, { span, ...latest }, "replaced", text);
      } else if (this.spans.length >= this.most) this.say("full", text, this.most);
      else this.change([...this.spans, span], false, { span, ...latest }, "chosen", text);
    }

    replace(old, span, latest) {
      const text = this.textOf(span), spans = this.spans.map((one) => (one === old ? span : one));
      if (String(span) === String(old)) return;
      if (this.has(span)) this.say("duplicate", text);
      else if (text.trim()) this.change(spans, false, { span, ...latest }, "chosen", text);
    }

    remove(old) {
      this.change(this.spans.filter((span) => span !== old), false, null, "removed", this.textOf(old));
    }

    has(span) {
      return this.spans.some((other) => String(other) === String(span));
    }

    undo() {
      const before = this.history.pop();
      if (before) this.show(...before);
      this.say(before ? "undone" : "nothing");
    }

    /* Sends at once, unless something is chosen or somebody wants it to be asked for again. With
       nothing chosen it is the answer from the first press on, whichever button sends it then. */
    chooseNone() {
      const replaces = this.spans.length > 0;
      const asks = !this.none && !this.sure && (replaces
        || !this.root.dispatchEvent(new CustomEvent("nonechosen", { bubbles: true, cancelable: true })));
      if (!this.none && !(asks && replaces)) this.change([], true, null, "none");
      this.sure = asks;
      this.drawControls();
      if (!asks) return this.root.closest("form").requestSubmit();
      this.say(replaces ? "none-instead" : "none-confirm");
    }

    /* Sent by the other button after "none" was pressed: it may mean the words, or none. */
    asksWhich(event) {
      if (!this.sure || !this.spans.length) return false;
      event.preventDefault();
      event.stopImmediatePropagation();
      this.sure = false;
      this.drawControls();
      this.say("none-or-words");
      return true;
    }

    toggleExact() {
      this.exact = !this.exact;
      this.latest = null;
      this.build();
      this.draw();
      this.say(this.exact ? "exact-on" : "exact-off");
    }

    // -- Choosing.

    rangeOf(from, to) {
      const [first, last] = from.place < to.place ? [from, to] : [to, from];
      return [from.segment.number, first.start, last.end];
    }

    snapped(from, to) {
      const { tokens } = from.segment;
      if (this.exact) return this.rangeOf(from, to);
      const [first, last] = [from.place, to.place].sort((a, b) => a - b);
      const ends = snap(tokens, first, last);
      return this.rangeOf(tokens[ends[0]], tokens[ends[1]]);
    }

    /* The phrase that a token is in. */
    holding(token) {
      return this.spans.find(([number, start, end]) =>
        number === token.segment.number && start < token.end && token.start < end);
    }

    pick(token, options) {
      const inside = this.holding(token), old = inside || this.grownBy(token);
      if (inside) this.remove(inside);
      else if (old) this.grow(old, token);
      else this.add(this.rangeOf(token, token), { edge: 2, from: token });
      this.rove(token, options);
      if (!inside && this.history.length === 1 && this.isFirst) this.hint();
    }

    /* Whether this token is taken from the first to the last. */
    single(token) {
      return this.exact || token.single;
    }

    /* Nothing is added to a phrase any more: a tap beside it takes another. */
    keepApart(span) {
      this.finished.add(span);
      this.drawList();
      this.say("apart");
    }

    /* The phrase to which a tap on this token adds. */
    grownBy(token) {
      const { latest, spans } = this, { segment, place } = token;
      const open = spans.filter((span) => span[0] === segment.number && !this.finished.has(span));
      if (this.most === 1) {
        return open.find(([, start, end]) =>
          Math.max(end, token.end) - Math.min(start, token.start) <= LONGEST_PHRASE);
      }
      if (this.single(token)) return open.find((span) => span === latest?.span && latest.from);
      const { before, after } = neighbours(segment.tokens, place);
      const touched = open.filter(([, start, end]) =>
        before.some((word) => word.end === end) || after.some((word) => word.start === start));
      return touched.find((span) => span === latest?.span) || touched[0];
    }

    grow(old, token) {
      const { latest } = this, [number, start, end] = old;
      const edge = token.start >= end ? 2 : 1;
      const from = latest?.span === old ? latest.from : null;
      const span = from && this.most === 1 ? this.rangeOf(from, token)
        : [number, Math.min(start, token.start), Math.max(end, token.end)];
      if (this.most !== 1 && this.single(token)) this.finished.add(span);
      this.replace(old, span, { edge, from });
    }

    /* The end that was set last, one token further or back; where that leaves nothing, the phrase
       grows at its other end. It is finished then. */
    nudge(step) {
      const { span: old, edge } = this.latest, { tokens } = this.segments[old[0]];
      let moved = this.moved(old, edge, step, tokens), moves = edge;
      if (moved === old) [moved, moves] = [this.moved(old, 3 - edge, step, tokens), 3 - edge];
      this.finished.add(moved);
      this.replace(old, moved, { edge: moves });
    }

    /* One token alone takes part in the order of the tab key. */
    rove(token, options) {
      if (!token) return;
      const old = this.current;
      this.current = token;
      token.el.tabIndex = 0;
      token.el.setAttribute("role", "button");
      this.drawControls();
      if (options) token.el.focus(options);
      if (old && old !== token) {
        for (const name of ["tabindex", "role", "aria-pressed"]) old.el.removeAttribute(name);
      }
    }

    // -- What people do.

    tokenAt({ target, clientX, clientY }, segment, within = Infinity) {
      const inside = segment || this.segments.find(({ el }) => el.contains(target));
      return inside?.tokens.length ? nearest(inside.tokens, clientX, clientY, within) : null;
    }

    /* A browser gives a tap to the one focusable or clickable element within the finger's radius,
       and moves the click there; the pointer's own coordinates stay true. */
    onFinger({ pointerType, clientX, clientY }) {
      const target = document.elementFromPoint(clientX, clientY);
      this.finger = pointerType === "mouse" ? null : { target, clientX, clientY };
    }

    onClick(event) {
      const { finger, dragged } = this;
      Object.assign(this, { finger: null, dragged: false });
      const token = dragged ? null : this.tokenAt(finger || event, null, 24);
      if (!token) {
        this.tapped = null;
        return;
      }
      // A control near the word that the finger was on shall not act too.
      if (!token.segment.el.contains(event.target)) event.preventDefault();
      event.stopPropagation();
      const isSecond = token === this.tapped?.token
        && event.timeStamp - this.tapped.timeStamp < DOUBLE_TAP_MS;
      this.tapped = { token, timeStamp: event.timeStamp };
      if (!isSecond) this.pick(token, { preventScroll: true });
    }

    onDown(event) {
      const from = this.tokenAt(event, null, 24);
      this.finger = null;
      this.dragged = false;
      if (!from || event.pointerType !== "mouse" || event.button) return;
      const stop = new AbortController(), { signal } = stop;
      let to = from, at = event;
      const follow = () => {
        const { clientX } = at;
        to = this.tokenAt(at, from.segment) || to;
        this.dragged ||= to !== from || Math.abs(clientX - event.clientX) > 8;
        if (this.dragged) this.preview(this.snapped(from, to));
      };
      const scroll = setInterval(() => {
        const step = at.clientY < 32 ? -14 : at.clientY > window.innerHeight - 64 ? 14 : 0;
        if (!this.dragged || !step) return;
        window.scrollBy(0, step);
        follow();
      }, 30);
      signal.addEventListener("abort", () => clearInterval(scroll));
      document.addEventListener("pointermove", (now) => {
        at = now;
        if (now.buttons) follow();
        else stop.abort(); // the button went up outside the window
      }, { signal });
      document.addEventListener("pointercancel", () => {
        stop.abort();
        this.preview();
      }, { signal });
      document.addEventListener("pointerup", () => {
        stop.abort();
        if (!this.dragged) return;
        setTimeout(() => { this.dragged = false; }); // the click that follows is not a tap
        const span = this.snapped(from, to);
        this.finished.add(span);
        this.add(span, { edge: to.place < from.place ? 1 : 2 });
        this.rove(to, { preventScroll: true });
      }, { signal });
    }

    onKey(event) {
      const { token } = event.target;
      const act = this.actOf(event);
      const next = act ? null : this.next(token, event);
      if (!act && !next) return;
      event.preventDefault();
      if (act === "undo") this.undo();
      else if (act === "pick") event.repeat || this.pick(token);
      else this.step(token, next, event.shiftKey);
    }

    actOf({ target, key, code, ctrlKey, metaKey, shiftKey }) {
      const isZ = key === "z" || (code === "KeyZ" && !/^[a-z]$/i.test(key));
      if ((ctrlKey || metaKey) && isZ && !shiftKey) return "undo";
      if (ctrlKey || metaKey) return "";
      return target.token && (key === "Enter" || key === " ") ? "pick" : "";
    }

    /* With Shift the phrase goes along: the one that is being made, or that the word is in, from
       its other end; else a new one begins on the word. */
    step(token, next, extend) {
      this.rove(next, {});
      if (!extend || next.segment !== token.segment) return;
      const { latest } = this, goesOn = latest?.to === token;
      const old = goesOn ? latest.span : this.holding(token);
      const from = goesOn ? latest.from : old ? this.otherEnd(old, token, next) : token;
      const span = this.rangeOf(from, next);
      this.finished.add(span);
      const way = { edge: next.place < from.place ? 1 : 2, from, to: next };
      if (old) this.replace(old, span, way);
      else this.add(span, way);
    }

    otherEnd([, start, end], token, next) {
      const inside = token.segment.tokens.filter((one) => start < one.end && one.start < end);
      const first = inside[0], last = inside.at(-1);
      if (token === last) return first;
      return token === first || next.place < token.place ? last : first;
    }

    /* The beginning of the next word, or, from word to word, of the next clause; the last token
       where there is none. */
    jump({ place, segment }, step) {
      const { tokens, words } = segment, starts = new Set(words.map(({ start }) => start));
      const begins = (i) => (this.exact ? starts.has(tokens[i].start)
        : i === 0 || (tokens[i - 1].punctuation && !tokens[i].punctuation));
      let i = place + step;
      while (tokens[i + step] && !begins(i)) i += step;
      return tokens[i];
    }

    /* Where a key leads. */
    next(token, { key, ctrlKey, metaKey, altKey }) {
      if (!token || metaKey || altKey) return null;
      const { tokens, el, number } = token.segment;
      const forward = getComputedStyle(el).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
      const step = { ArrowDown: 1, ArrowUp: -1, ArrowLeft: -1, ArrowRight: -1, [forward]: 1 }[key];
      const isVertical = key === "ArrowUp" || key === "ArrowDown";
      if (ctrlKey && (isVertical || !step)) return null;
      if (key === "Home") return tokens[0];
      if (key === "End") return tokens[tokens.length - 1];
      if (!step) return null;
      const near = isVertical ? vertical(tokens, token, step)
        : ctrlKey ? this.jump(token, step) : tokens[token.place + step];
      if (near) return near;
      const beyond = this.segments[number + step]?.tokens;
      return beyond?.[step > 0 ? 0 : beyond.length - 1] || token;
    }

    // -- The list of what is chosen, and the controls.

    drawControls() {
      const press = (el, on) => el?.setAttribute("aria-pressed", String(Boolean(on)));
      const none = this.find("none"), nudge = this.find("nudge"), { span } = this.latest || {};
      press(none, this.none);
      none?.classList.toggle("is-asking", Boolean(this.sure));
      press(this.find("exact"), this.exact);
      nudge?.classList.toggle("is-off", !span);
      if (nudge && span) nudge.dir = getComputedStyle(this.segments[span[0]].el).direction;
      this.root.classList.toggle("is-exact", this.exact);
      const { el } = this.current || {};
      press(el, el?.matches(".is-chosen"));
    }

    drawList() {
      const list = this.find("list"), held = document.activeElement;
      const item = held?.closest("[data-span-list] > li"), act = held?.dataset.act;
      const at = item && list.contains(item) ? [...list.children].indexOf(item) : -1;
      const before = this.listed, span = before?.[at];
      this.listed = this.spans.slice().sort(inTextOrder);
      list.replaceChildren(...this.listed.map((listed) => this.drawItem(listed)));
      if (at < 0) return;
      // A piece whose end was moved may stand elsewhere now.
      const moved = this.listed.length === before.length && !this.listed.includes(span)
        ? this.listed.findIndex((listed) => !before.includes(listed)) : at;
      const place = list.children[Math.min(moved, list.children.length - 1)];
      const again = place?.querySelector(`[data-act="${act}"]`) || place?.querySelector("button");
      (again || this.find("undo") || this.current?.el)?.focus();
    }

    drawItem(span) {
      const item = create("li", "span-item"), { el } = this.segments[span[0]];
      const text = create("span", "span-text", this.textOf(span));
      text.dir = getComputedStyle(el).direction;
      text.lang = el.lang;
      item.append(text);
      const put = (act, visible, name = visible, within = item) => {
        const button = within.appendChild(create("button", "", visible));
        button.type = "button";
        button.dataset.act = act;
        button.setAttribute("aria-label", `${name}: ${text.textContent}`);
        if (name !== visible) button.title = name;
      };
      const edges = create("span", "span-edges");
      const edge = (name) => {
        const box = edges.appendChild(create("span", "span-edge", this.label(`${name}-edge`)));
        box.dir = text.dir;
        put(`${name}-earlier`, "‹", this.label(`${name}-earlier`), box);
        put(`${name}-later`, "›", this.label(`${name}-later`), box);
      };
      const partner = this.partnerOf(span);
      if (partner) put("partner", this.label("partner", partner));
      const isOpen = this.most !== 1 && !this.exact && span === this.latest?.span && !this.finished.has(span);
      if (isOpen) put("apart", "+", this.label("another"));
      put("remove", "×", this.label("remove"));
      if (this.exact) {
        item.append(edges);
        ["start", "end"].forEach(edge);
      }
      return item;
    }

    /* The span with the bracket or quotation mark outside that belongs to one inside. */
    completed([number, start, end]) {
      const { words } = this.segments[number];
      const first = words.findIndex((word) => word.start === start);
      const last = words.findIndex((word) => word.end === end);
      if (first < 0 || last < first) return [number, start, end];
      const ends = withPartners(words, first, last);
      return this.rangeOf(words[ends[0]], words[ends[1]]);
    }

    partnerOf(span) {
      const [number, start, end] = this.completed(span);
      return this.textOf([number, start, span[1]]) + this.textOf([number, span[2], end]);
    }

    onList(event) {
      const { act } = event.target.dataset, span = this.spanOf(event);
      if (act === "remove") this.remove(span);
      else if (act === "apart") this.keepApart(span);
      else if (act) this.adjust(span, act);
    }

    adjust(span, act) {
      const [edge, step] = EDGES[act] || [2, 0], { singles } = this.segments[span[0]];
      const moved = step ? this.moved(span, edge, step, singles) : this.completed(span);
      this.finished.add(moved);
      this.replace(span, moved, { edge });
    }

    /* The span with one edge at the next boundary of these units; as it is where that leaves
       nothing. */
    moved(span, edge, step, units) {
      const cuts = units.map((unit) => (edge === 1 ? unit.start : unit.end));
      const at = step > 0 ? search(cuts, (cut) => cut > span[edge])
        : search(cuts, (cut) => cut >= span[edge]) - 1;
      const moved = span.slice();
      moved[edge] = cuts[at] ?? span[edge];
      return moved[1] < moved[2] ? moved : span;
    }

    showItem(event) {
      const span = this.spanOf(event);
      if (span) this.preview(span);
    }

    spanOf({ target }) {
      const items = [...this.find("list").children];
      return this.listed[items.indexOf(target.closest("[data-span-list] > li"))];
    }

    // -- Words for it.

    textOf([number, start, end]) {
      return this.segments[number].points.slice(start, end).join("");
    }

    label(name, text = "", count = 0) {
      const key = name.replace(/(?:^|-)(.)/g, (_, letter) => letter.toUpperCase());
      const short = text.length > 90 ? `${text.slice(0, 40)} … ${text.slice(-40)}` : text;
      return (this.root.dataset[`label${key}`] || "")
        .replace(/\{text\}([.\u3002\u0964]?)/, (_, stop) => `\u2068${short}\u2069${ENDED.test(short) ? "" : stop}`)
        .replace("{count}", count);
    }

    /* Behind what was said: what else can be done with what was just chosen. */
    hint() {
      this.find("status").append(" ", create("span", "span-hint", this.label("hint")));
    }

    say(...label) {
      // Pieces of the text stand between marks of their direction: they are in its language.
      const { el } = this.segments[0], parts = this.label(...label).split(/[\u2068\u2069]/);
      const own = { lang: el.lang, dir: getComputedStyle(el).direction };
      this.find("status").replaceChildren(...parts.map((part, i) => (
        i % 2 ? Object.assign(create("bdi", "", part), own) : part)));
    }
  }

  function start() {
    for (const root of document.querySelectorAll("[data-span-picker]")) {
      if (root.spanPicker !== undefined) continue;
      root.spanPicker = null;
      root.spanPicker = new Picker(root);
    }
  }

  document.addEventListener("DOMContentLoaded", start);
  document.addEventListener("htmx:load", start);
  if (document.readyState !== "loading") start();
})();
