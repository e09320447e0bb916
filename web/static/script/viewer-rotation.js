// @ts-check
// Rotation of pages.

import { addHidden } from './page.js';
import { actions, announce, base, keys, viewer } from './viewer.js';
import { anchorAt, layout, pages, view } from './viewer-geometry.js';
import { connection } from './viewer-images.js';
import { goTo } from './viewer-navigation.js';

// The rotation of pages is stored for everyone, by users who may change documents. What can't be saved
// because the connection is lost is saved later.
const mayTurn = 'mayTurn' in viewer.dataset;
/** @type {Set<ViewerPage>} */
let unsavedTurns = new Set();
let savingTurns = false;
// offerUndo says above the document that its pages are rotated for everyone, and offers to undo that.
/**
 * @param {Set<ViewerPage>} turned
 * @param {{ path: string, token: string }} undo
 */
const offerUndo = (turned, undo) => {
  const [first] = turned;
  const notice = document.createElement('div');
  notice.id = 'rotated';
  notice.className = 'notice';
  notice.setAttribute('role', 'status');
  const text = document.createElement('span');
  text.textContent = `${turned.size === 1 ? `Page ${pages.indexOf(first) + 1}` : 'Pages'} rotated for everyone.`;
  const form = document.createElement('form');
  form.method = 'post';
  form.action = undo.path;
  form.target = '_self';
  addHidden(form, 'undoes', undo.token);
  addHidden(form, 'back', location.pathname + location.search);
  const button = document.createElement('button');
  button.className = 'quiet';
  button.textContent = 'Undo';
  form.append(button);
  notice.append(text, form);
  document.getElementById(notice.id)?.remove();
  viewer.before(notice);
};
const saveTurns = async () => {
  if (!mayTurn || savingTurns || !unsavedTurns.size || connection.state()) return;
  const sent = unsavedTurns;
  const turns = pages.map((page) => (sent.has(page) ? page.turn : '-')).join('');
  unsavedTurns = new Set();
  savingTurns = true;
  try {
    const response = await connection.request(`${base}/rotation`, {
      method: 'POST',
      body: new URLSearchParams({ turns }),
      keepalive: true,
    });
    if (!response.ok) announce("The rotation wasn't saved. Reload the page and try again.");
    else {
      const { undo } = await response.json();
      if (undo.path) offerUndo(sent, undo);
    }
  } catch {
    unsavedTurns = new Set([...sent, ...unsavedTurns]);
  }
  savingTurns = false;
  saveTurns();
};

/** @param {boolean} single */
const rotate = (single) => {
  const anchor = anchorAt();
  const page = pages[view.current - 1];
  for (const turned of single ? [page] : pages) {
    turned.turn = (turned.turn + 1) % 4;
    unsavedTurns.add(turned);
  }
  viewer.dispatchEvent(new Event('viewer:rotated'));
  layout(null);
  goTo(anchor.n);
  announce(`Rotated ${page.turn * 90} degrees${mayTurn ? '' : ', only on your screen'}`);
  saveTurns();
};

viewer.addEventListener('viewer:reconnected', saveTurns);
actions.rotate = (event) => rotate(event.shiftKey);
keys.r = 'rotate';
