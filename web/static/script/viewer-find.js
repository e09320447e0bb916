// @ts-check
// Search in the document: the list of its matches, and their marks on the pages.

import { actions, announce, base, finder, keys, pane, query, viewer } from './viewer.js';
import { draw, pageElements } from './viewer-drawing.js';
import { acceptPaneSize, layout, pages, view } from './viewer-geometry.js';
import { connection } from './viewer-images.js';
import { densest, distance } from './viewer-matches.js';
import { goTo } from './viewer-navigation.js';

const panel = query('[data-hits]');
// The page that the search result linked to. It is saved because the address changes later.
const linkedPage = Number(new URLSearchParams(location.search).get('page'));
// byWords says whether the server searches for the words of the phrase.
/** @type {Hit[]} */
let hits = [];
let hit = -1;
let phrase = '';
let byWords = false;
/** @type {Map<number, Rect[][] | Promise<Rect[][]>>} */
let marksByPage = new Map();

/** @param {number} n */
const drawMarks = (n) => {
  const el = pageElements.get(n);
  if (!el) return;
  const box = el.querySelector('.viewer-marks');
  const marks = phrase ? marksByPage.get(n) : null;
  const key = marks ? `${phrase} ${hit}` : '';
  if (box.dataset.key === key && box.marks === marks) return;
  box.dataset.key = key;
  box.marks = marks;
  box.replaceChildren();
  if (!marks || !Array.isArray(marks)) return;
  const first = hits.findIndex((h) => h.page === n);
  for (const [i, rects] of marks.entries()) {
    for (const [left, top, right, bottom] of rects) {
      const mark = document.createElement('i');
      mark.style.left = `${left * 100}%`;
      mark.style.top = `${top * 100}%`;
      mark.style.width = `${(right - left) * 100}%`;
      mark.style.height = `${(bottom - top) * 100}%`;
      if (first + i === hit) mark.className = 'now';
      box.append(mark);
    }
  }
};

/** @param {number} n */
const loadMarks = async (n) => {
  if (marksByPage.has(n)) return marksByPage.get(n);
  const typed = phrase;
  const promise = connection
    .request(`${base}/pages/${n}/marks?q=${encodeURIComponent(phrase)}${byWords ? '&words=1' : ''}`)
    .then((r) => (r.ok ? r.json() : { marks: /** @type {Rect[][]} */ ([]) }))
    .then((r) => r.marks)
    .catch(() => /** @type {Rect[][]} */ ([]));
  marksByPage.set(n, promise);
  const marks = await promise;
  if (typed !== phrase) return [];
  marksByPage.set(n, marks);
  drawMarks(n);
  return marks;
};

/** @param {number} i */
const goToHit = async (i) => {
  if (!hits.length) return;
  const before = hit;
  hit = (i + hits.length) % hits.length;
  const { page: n } = hits[hit];
  query('[data-place]').textContent = `${hit + 1} of ${hits.length}`;
  for (const link of panel.querySelectorAll('[aria-current]')) link.removeAttribute('aria-current');
  const row = panel.querySelectorAll('li > button')[hit];
  if (row) {
    row.setAttribute('aria-current', 'true');
    row.scrollIntoView({ block: 'nearest' });
  }
  if (before >= 0 && hits[before] && hits[before].page !== n) drawMarks(hits[before].page);
  const page = pages[n - 1];
  if (view.current !== n && (pane.scrollTop > page.top + page.h || pane.scrollTop + pane.clientHeight < page.top))
    goTo(n);
  const typed = phrase,
    wantedHit = hit;
  const marks = await loadMarks(n);
  if (typed !== phrase || wantedHit !== hit) return;
  announce(`Match ${hit + 1} of ${hits.length}, on page ${n}`);
  drawMarks(n);
  for (const hitPage of new Set([...hits.slice(hit, hit + 6)].map((h) => h.page))) loadMarks(hitPage);
  const rects = marks[hit - hits.findIndex((h) => h.page === n)];
  if (rects?.length) reveal(n, rects[0]);
  else if (view.current !== n) goTo(n);
};

// reveal scrolls a rectangle of a page into view if it isn't visible.
/**
 * @param {number} n
 * @param {Rect} rect
 */
const reveal = (n, [left, top, right, bottom]) => {
  const page = pages[n - 1];
  /** @param {number[]} point */
  const corner = ([x, y]) =>
    [
      [x, y],
      [1 - y, x],
      [1 - x, 1 - y],
      [y, 1 - x],
    ][page.turn];
  const [a, b] = [corner([left, top]), corner([right, bottom])];
  const y1 = page.top + Math.min(a[1], b[1]) * page.h,
    y2 = page.top + Math.max(a[1], b[1]) * page.h;
  const x1 = page.left + Math.min(a[0], b[0]) * page.w,
    x2 = page.left + Math.max(a[0], b[0]) * page.w;
  if (y1 < pane.scrollTop + 24 || y2 > pane.scrollTop + pane.clientHeight - 24)
    pane.scrollTop = (y1 + y2) / 2 - pane.clientHeight * 0.4;
  if (x1 < pane.scrollLeft + 8 || x2 > pane.scrollLeft + pane.clientWidth - 8)
    pane.scrollLeft = (x1 + x2) / 2 - pane.clientWidth / 2;
  draw();
};

const closeFind = () => {
  phrase = '';
  hits = [];
  hit = -1;
  marksByPage = new Map();
  panel.hidden = true;
  finder.elements.find.value = '';
  query('[data-place]').textContent = '';
  viewer.classList.remove('finding');
  for (const n of pageElements.keys()) drawMarks(n);
  layout();
  pane.focus({ preventScroll: true });
};

// waitingNote says how many pages are not searchable, because the server hasn't read them yet or OCR is off.
/**
 * @param {number} waiting
 * @param {boolean} off
 */
const waitingNote = (waiting, off) =>
  !waiting
    ? ''
    : off
      ? `${waiting >= pages.length ? 'This document' : `${waiting} of ${pages.length} pages`} can't be searched: OCR is off.`
      : waiting >= pages.length
        ? "This document is not searchable yet. The server hasn't read its scanned pages."
        : `${waiting} of ${pages.length} pages ${waiting === 1 ? 'is' : 'are'} not searchable yet.`;

/**
 * @param {boolean} more
 * @param {boolean} asWords
 * @param {Searched} result
 */
const showHits = (more, asWords, { waiting, off, textless }) => {
  const list = panel.querySelector('ol');
  const found = new Set(hits.map((h) => h.page)).size;
  const tally = hits.length
    ? `${asWords ? 'No match for the phrase. Its words: ' : ''}${more ? 'More than ' : ''}${hits.length.toLocaleString('en-US')} ${hits.length === 1 ? 'match' : 'matches'} on ${found} ${found === 1 ? 'page' : 'pages'}`
    : waiting >= pages.length
      ? ''
      : textless
        ? 'No text was found in this document.'
        : 'No matches in this document.';
  query('[data-count]').textContent = [tally + (hits.length && waiting ? '.' : ''), waitingNote(waiting, off)]
    .filter(Boolean)
    .join(' ');
  list.replaceChildren(
    ...hits.map((h, i) => {
      const item = document.createElement('li');
      const button = document.createElement('button');
      const words = document.createElement('mark');
      const n = document.createElement('b');
      button.type = 'button';
      n.textContent = `Page ${h.page}`;
      words.textContent = h.match;
      button.append(n, h.before, words, h.after);
      button.addEventListener('click', () => goToHit(i));
      item.append(button);
      return item;
    }),
  );
  panel.hidden = false;
};

/** @param {string} typed */
export const find = async (typed, jump = true) => {
  typed = typed.trim();
  if (!typed) {
    closeFind();
    return;
  }
  if (typed === phrase) {
    goToHit(hit + 1);
    return;
  }
  phrase = typed;
  marksByPage = new Map();
  hits = [];
  hit = -1;
  viewer.classList.add('finding');
  query('[data-place]').textContent = '…';
  // The search page matches separate words instead of the phrase.
  const words =
    'words' in viewer.dataset && typed === viewer.dataset.find.trim()
      ? `&words=1${linkedPage ? `&page=${linkedPage}` : ''}`
      : '';
  let result;
  try {
    const response = await connection.request(`${base}/find?q=${encodeURIComponent(typed)}${words}`);
    if (!response.ok && response.status !== 404) throw new Error(String(response.status));
    result = response.ok ? await response.json() : { hits: [], more: false, textless: true };
  } catch {
    if (typed === phrase) {
      query('[data-place]').textContent = 'no response';
      phrase = '';
    }
    return;
  }
  if (typed !== phrase) return;
  hits = result.hits;
  byWords = result.words;
  query('[data-place]').textContent = hits.length
    ? ''
    : result.waiting >= pages.length
      ? result.off
        ? 'OCR is off'
        : 'not read yet'
      : result.textless
        ? 'no text'
        : 'no matches';
  showHits(result.more, result.words && !words && /\s/.test(typed), result);
  layout();
  acceptPaneSize(); // the page in the middle need not stay there
  // The first match from the current page on; for separate words, where most of them are
  // adjacent.
  const from = Math.max(
    hits.findIndex((h) => h.page >= view.current),
    0,
  );
  const samePage = words ? hits.slice(from).filter((h) => h.page === hits[from].page) : [];
  if (jump)
    goToHit(
      from +
        densest(
          samePage.map((h) => h.match),
          (i) => distance(samePage[i], samePage[i + 1]),
        ),
    );
};

// clearStaleHits removes the matches of text that is no longer in the field.
const clearStaleHits = () => {
  if (!phrase || finder.elements.find.value.trim() === phrase) return;
  phrase = '';
  hits = [];
  hit = -1;
  marksByPage = new Map();
  panel.hidden = true;
  query('[data-place]').textContent = '';
  for (const n of pageElements.keys()) drawMarks(n);
  layout();
};

if (finder) {
  finder.elements.find.addEventListener('input', clearStaleHits);
  finder.addEventListener('submit', (event) => {
    event.preventDefault();
    find(finder.elements.find.value);
  });
  finder.elements.find.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Enter' && event.shiftKey && hits.length && finder.elements.find.value.trim() === phrase) {
      event.preventDefault();
      goToHit(hit - 1);
    }
    if (event.key === 'Escape') {
      event.preventDefault();
      closeFind();
    }
  });
  Object.assign(actions, {
    find: () => {
      viewer.classList.add('finding');
      finder.elements.find.focus();
      finder.elements.find.select();
    },
    'find-close': closeFind,
    'hit-next': () => find(finder.elements.find.value),
    'hit-previous': () => {
      if (hits.length) goToHit(hit - 1);
    },
    leave: () => {
      if (document.querySelector('details.menu[open]')) return false;
      return phrase || viewer.classList.contains('finding') ? closeFind() : actions.back();
    },
  });
  Object.assign(keys, { '/': 'find', Enter: 'hit-next' });
}

viewer.addEventListener('viewer:drawn', (event) => drawMarks(event.detail));
viewer.addEventListener('viewer:reconnected', () => {
  if (finder?.elements.find.value && !hits.length) find(finder.elements.find.value);
});
