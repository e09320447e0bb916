// @ts-check
// A document that is shown as text: its matches are marked already.

import { actions, announce, finder, keys, pane, query, viewer } from './viewer.js';
import { densest } from './viewer-matches.js';

const marks = [...pane.querySelectorAll('mark')];
let now = -1;
/** @param {number} i */
const goToMark = (i) => {
  if (!marks.length) return;
  if (now >= 0) marks[now].classList.remove('now');
  now = (i + marks.length) % marks.length;
  marks[now].classList.add('now');
  marks[now].scrollIntoView({ block: 'center' });
  query('[data-place]').textContent = `${now + 1} of ${marks.length}`;
  announce(`Match ${now + 1} of ${marks.length}`);
};
const isStale = () => finder.elements.find.value.trim() !== viewer.dataset.find;
// Removes the matches of the last search while a new one is typed.
finder.elements.find.addEventListener('input', () => {
  pane.classList.toggle('stale', isStale());
  const position = query('[data-place]');
  if (position) position.textContent = isStale() ? '' : marks.length ? `${now + 1} of ${marks.length}` : 'no matches';
});
finder.addEventListener('submit', (event) => {
  if (isStale() || !marks.length) return;
  event.preventDefault();
  goToMark(now + 1);
});
Object.assign(actions, {
  find: () => {
    viewer.classList.add('finding');
    finder.elements.find.focus();
    finder.elements.find.select();
  },
  'hit-next': () => finder.requestSubmit(),
  'hit-previous': () => {
    if (!isStale()) goToMark(now - 1);
  },
});
Object.assign(keys, { '/': 'find' });
finder.elements.find.addEventListener('keydown', (/** @type {KeyboardEvent} */ event) => {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  pane.focus({ preventScroll: true });
});
if (viewer.dataset.find) viewer.classList.add('finding');
// The first match on or after the page in the address.
const page = document.getElementById(`p${viewer.dataset.page}`);
const from = Math.max(
  page
    ? marks.findIndex(
        (mark) => page.contains(mark) || page.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING,
      )
    : 0,
  0,
);
const samePage = marks.slice(from).filter((mark) => mark.closest('article') === marks[from].closest('article'));
/** @param {number} i */
const gap = (i) => {
  if (samePage[i].nextSibling === samePage[i + 1]) return 0;
  const next = /** @type {Text} */ (samePage[i].nextSibling);
  return next.nextSibling === samePage[i + 1] ? next.length + (/[\p{L}\p{N}]/u.test(next.data) ? 2 : 0) : Infinity;
};
goToMark(
  from +
    ('words' in viewer.dataset
      ? densest(
          samePage.map((mark) => mark.textContent),
          gap,
        )
      : 0),
);
