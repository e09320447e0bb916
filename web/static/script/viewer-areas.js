// @ts-check
// Highlighted areas of pages, and the note of the one that is open. Without scripts, the page of the notes lists them.

import { announce, base, pane, query, viewer } from './viewer.js';
import { pageElements } from './viewer-drawing.js';
import { pages } from './viewer-geometry.js';
import { connection } from './viewer-images.js';
import { goTo } from './viewer-navigation.js';

/** @type {HTMLDialogElement} */
export const card = query('dialog[data-note-card]');
/** @type {PageArea[]} */
let areas = [];
let shownNote = 0; // the note in the card; 0 for none, or a new one
/** @type {Element} */
let content = null; // of the card

/** @param {ViewerPage} page */
export const pointsOf = (page) => ({ width: page.width * 0.75, height: page.height * 0.75 });
// place puts an element over an area of its page. The layer that contains it is as large as the unrotated page, and rotated.
/**
 * @param {HTMLElement} el
 * @param {ViewerPage} page
 * @param {{ x: number, y: number, width: number, height: number }} area
 */
export const place = (el, page, { x, y, width, height }) => {
  const size = pointsOf(page);
  el.style.left = `${(100 * x) / size.width}%`;
  el.style.top = `${(100 * y) / size.height}%`;
  el.style.width = `${(100 * width) / size.width}%`;
  el.style.height = `${(100 * height) / size.height}%`;
};
/** @param {number} n */
export const layerOf = (n) => pageElements.get(n)?.querySelector('.viewer-areas');

/** @param {number} id */
const buttonOf = (id) => pane.querySelector(`button[data-note="${id}"]`);

/** @param {number} n */
const drawAreas = (n) => {
  const layer = layerOf(n);
  if (!layer) return;
  const unused = new Set(layer.querySelectorAll('button[data-note]'));
  for (const area of areas) {
    if (area.page !== n) continue;
    let button = buttonOf(area.id);
    if (!button) {
      button = document.createElement('button');
      button.type = 'button';
      button.dataset.note = String(area.id);
      layer.append(button);
    }
    unused.delete(button);
    button.setAttribute('aria-label', area.text);
    button.setAttribute('aria-expanded', String(area.id === shownNote));
    place(button, pages[n - 1], area);
    pageElements.get(n).setAttribute('role', 'group'); // an image would hide the buttons from screen readers
  }
  for (const button of unused) button.remove();
};
const drawAll = () => {
  for (const n of pageElements.keys()) drawAreas(n);
};
viewer.addEventListener('viewer:drawn', (event) => drawAreas(event.detail));

let requests = 0;
// loadAreas requests the areas of all pages.
export const loadAreas = async () => {
  const number = ++requests;
  try {
    const response = await connection.request(`${base}/areas`);
    if (!response.ok) return;
    const loaded = await response.json();
    if (number !== requests) return; // a later request has newer ones
    areas = loaded.areas;
  } catch {
    return; // the viewer says so, and continues when the server responds again
  }
  drawAll();
  viewer.dispatchEvent(new Event('viewer:areas'));
};

// ---- the card with a note

// The address names the note that is open, so that it can be shared.
const storeNote = () => {
  const url = new URL(location.href);
  if (shownNote) url.searchParams.set('note', String(shownNote));
  else url.searchParams.delete('note');
  history.replaceState(null, '', url);
};
// putCard puts the card into a corner of the pane, away from the area.
const putCard = () => {
  const area = pane.querySelector('[data-draft]') || buttonOf(shownNote);
  if (!card.open || !card.offsetParent) return;
  const box = pane.getBoundingClientRect(),
    frame = card.offsetParent.getBoundingClientRect(),
    at = area?.getBoundingClientRect();
  const below = at && at.top + at.height / 2 > box.top + box.height / 2;
  card.style.right = `${frame.right - box.right + 12}px`;
  card.style.maxWidth = `${box.width - 24}px`;
  card.style.maxHeight = `${0.6 * box.height}px`;
  card.style.top = below ? `${box.top - frame.top + 12}px` : 'auto';
  card.style.bottom = below ? 'auto' : `${frame.bottom - box.bottom + 12}px`;
};
/** @param {string} html */
const fillCard = (html) => {
  card.innerHTML = html;
  content = card.firstElementChild;
  htmx.process(card);
  const heading = card.querySelector('h2');
  if (heading) card.setAttribute('aria-labelledby', heading.id);
};
/** @param {string} what */
const request = async (what) => {
  const response = await connection.request(`${base}/notes?${what}`, { headers: { 'HX-Request': 'true' } });
  if (!response.ok) throw new Error(response.statusText);
  return response.text();
};
const mayClose = () => !card.querySelector('[data-touched]') || window.confirm('Discard your changes?');
let opened = 0; // number of times that a part was opened
// openCard shows a part of the notes.
/** @param {string} what */
export const openCard = async (what, id = 0) => {
  if (card.open && !mayClose()) return;
  opened += 1;
  const number = opened;
  let html = '';
  try {
    html = await request(what);
  } catch {
    announce("The note can't be loaded. Reload the page and try again.");
    return;
  }
  if (number !== opened) return; // another one was opened since
  fillCard(html);
  shownNote = id;
  drawAll();
  if (!card.open) card.show();
  putCard();
  storeNote();
  (card.querySelector('textarea') || card).focus({ preventScroll: true });
};
export const closeCard = () => {
  if (!card.open || !mayClose()) return;
  const button = buttonOf(shownNote);
  card.close();
  card.replaceChildren();
  shownNote = 0;
  drawAll();
  storeNote();
  (button || pane).focus({ preventScroll: true });
  viewer.dispatchEvent(new Event('viewer:note-closed'));
};
/** @param {number} id */
const showNote = async (id) => {
  const area = areas.find((one) => one.id === id);
  if (!area) {
    announce('This note was deleted or no longer has a highlight.');
    return;
  }
  if (!buttonOf(id)?.checkVisibility()) goTo(area.page);
  buttonOf(id)?.scrollIntoView({ block: 'center', inline: 'center' });
  await openCard(`only=${id}`, id);
};

card.addEventListener('click', (event) => {
  if (event.target.closest('[data-note-close]')) closeCard();
});
window.addEventListener(
  'keydown',
  (event) => {
    if (event.key !== 'Escape' || !card.open || document.querySelector('dialog:modal, details.menu[open]')) return;
    const target = /** @type {Element} */ (event.target);
    if (!card.contains(target) && target.closest('[data-panel], input')) return;
    event.preventDefault();
    event.stopPropagation();
    closeCard();
  },
  true,
);
// Saving and deleting replace the content of the card.
document.addEventListener('htmx:afterSwap', () => {
  if (!card.open || card.firstElementChild === content) return;
  content = card.firstElementChild;
  const note = card.querySelector('[data-shown-note]');
  const notice = card.querySelector('.notice');
  if (!note && !card.querySelector('form[data-editing]')) {
    closeCard();
    if (notice) announce(notice.textContent.trim());
    return;
  }
  if (note && Number(note.dataset.shownNote) !== shownNote) {
    shownNote = Number(note.dataset.shownNote);
    storeNote();
  }
  if (!card.contains(document.activeElement)) (card.querySelector('textarea') || card).focus({ preventScroll: true });
  putCard();
});
viewer.addEventListener('viewer:redraw', putCard);

// ---- opening a note

// areaAt returns the smallest area at a point. The words of the page are above it, so that users can select them.
/**
 * @param {number} x
 * @param {number} y
 */
const areaAt = (x, y) => {
  const found = document.elementsFromPoint(x, y).filter((el) => el.matches('.viewer-areas button[data-note]'));
  /** @param {Element} el */
  const size = (el) => el.clientWidth * el.clientHeight;
  return /** @type {HTMLElement} */ (found.sort((a, b) => size(a) - size(b))[0]);
};
let pressed = { x: 0, y: 0 };
pane.addEventListener('pointerdown', ({ clientX, clientY }) => {
  pressed = { x: clientX, y: clientY };
});
pane.addEventListener('pointermove', (event) => {
  if (event.pointerType === 'mouse' && areas.length)
    pane.classList.toggle('over-area', !event.buttons && Boolean(areaAt(event.clientX, event.clientY)));
});
pane.addEventListener('click', (event) => {
  if (pane.classList.contains('marking') || String(getSelection())) return;
  const byKey = event.detail === 0;
  if (!byKey && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > 4) return; // the page was dragged
  const button = byKey ? event.target.closest('button[data-note]') : areaAt(event.clientX, event.clientY);
  if (button) openCard(`only=${button.dataset.note}`, Number(button.dataset.note));
});
viewer.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-show-note]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  showNote(Number(link.dataset.showNote));
});

// ---- changes

// The panel lists the notes of its instrument.
const panel = query('[data-panel]');
const loadPanelNotes = async () => {
  const list = panel.querySelector('[data-panel-notes]');
  const instrument = panel.querySelector('a[data-instrument][aria-current]');
  if (panel.hidden || !list || !instrument) return;
  const address = new URL(panel.dataset.source, location.href);
  address.searchParams.set('instrument', instrument.dataset.instrument);
  const response = await connection.request(String(address), { headers: { 'HX-Request': 'true' } });
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('[data-panel-notes]');
  if (response.ok && fresh && list.isConnected) list.replaceWith(fresh);
};
// So do the document's details.
const loadNotes = () => {
  const list = viewer.querySelector('#notes');
  if (list?.childElementCount && !list.closest('dialog').open)
    htmx.ajax('get', `${base}/notes`, { target: '#notes', swap: 'outerHTML' });
};
const reload = async () => {
  loadNotes();
  await Promise.all([loadAreas(), loadPanelNotes().catch(() => {})]);
};
document.addEventListener('deedkeep:changed', reload);
// Others changed something about the document. The card stays while someone types in it.
document.addEventListener('deedkeep:refresh', async (event) => {
  event.preventDefault();
  await reload();
  const id = shownNote;
  const number = opened;
  const isShown = () =>
    card.open && id && id === shownNote && number === opened && !card.querySelector('form[data-editing]');
  if (!isShown()) return;
  let html = '';
  try {
    html = await request(`only=${id}`);
  } catch {
    return; // the next change tries again
  }
  if (!isShown()) return;
  const focused = card.contains(document.activeElement);
  fillCard(html);
  if (!card.querySelector('[data-shown-note]')) closeCard();
  else if (focused) card.focus({ preventScroll: true });
});

const linked = Number(viewer.dataset.noteShown);
loadAreas().then(() => {
  if (linked) showNote(linked);
});
