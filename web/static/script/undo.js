// @ts-check
// Ctrl+Z undoes the last change that the user made in this tab, also after other pages were opened. It submits what the
// Undo button in the notice of the change submits.
import { addHidden, announce } from './page.js';

const storageKey = 'undo';
const maxEntries = 20;
/** @type {HTMLElement} */
const palette = document.querySelector('#palette');
const user = palette?.dataset.user;

/** @returns {UndoEntry[]} */
const entries = () => {
  try {
    const [of, list] = JSON.parse(sessionStorage.getItem(storageKey));
    if (of === user) return list;
  } catch {
    /* missing, or not allowed */
  }
  return [];
};
/** @param {UndoEntry[]} list */
const store = (list) => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify([user, list.slice(-maxEntries)]));
  } catch {
    /* not allowed */
  }
  document.dispatchEvent(new CustomEvent('deedkeep:undoable'));
};

// Changes that a script of this page undoes without opening a page, by entry.
/** @type {Map<string, () => unknown>} */
const steps = new Map();
let count = 0;
/** @param {UndoEntry} entry */
const isUsable = (entry) => Boolean(entry.path) || steps.has(entry.id);

// pushUndo adds a change. run undoes it while this page is open. After that, the form in undo does.
/**
 * @param {string} what
 * @param {{ path: string, token: string }} [undo]
 * @param {() => unknown} [run]
 */
export const pushUndo = (what, undo, run) => {
  const id = `${performance.timeOrigin}-${++count}`;
  if (run) steps.set(id, run);
  store([...entries().filter((entry) => !undo || entry.token !== undo.token), { id, what, ...undo }]);
};
// nextUndo returns the last change that can be undone, if there is one.
export const nextUndo = () => entries().filter(isUsable).at(-1);

// A page can have changes that are still being saved. It sets what to do before the last one is undone.
/** @type {(act: () => unknown) => unknown} */
let defer = (act) => act();
/** @param {(act: () => unknown) => unknown} by */
export const deferUndo = (by) => {
  defer = by;
};

let leaving = false;
/** @param {UndoEntry} entry */
const submit = (entry) => {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = entry.path;
  form.target = '_self'; // and not the whole window, of which this page may be a side
  addHidden(form, 'undoes', entry.token);
  addHidden(form, 'back', location.pathname + location.search);
  document.body.append(form);
  leaving = true;
  setTimeout(() => form.requestSubmit());
};
const tellNothing = () => {
  announce('Nothing to undo.');
  const line = document.createElement('p');
  line.className = 'muted';
  line.id = 'nothing-to-undo';
  line.textContent = 'Nothing to undo.';
  document.getElementById(line.id)?.remove();
  document.getElementById('main').prepend(line);
  setTimeout(() => line.remove(), 3000);
};
// undoLast undoes the last change.
export const undoLast = () =>
  defer(() => {
    if (leaving) return null;
    const entry = nextUndo();
    if (!entry) {
      tellNothing();
      return null;
    }
    store(entries().filter((other) => other.id !== entry.id && isUsable(other)));
    const run = steps.get(entry.id);
    if (!run) submit(entry);
    steps.delete(entry.id);
    return run?.();
  });

// ---- Undo buttons

/** @type {WeakSet<Element>} */
const seen = new WeakSet();
// collect adds the changes of the Undo buttons that are new on the page. Those that repeat a change aren't added.
const collect = () => {
  /** @type {NodeListOf<HTMLInputElement>} */
  const tokens = document.querySelectorAll('[name="undoes"]');
  for (const token of tokens) {
    if (seen.has(token)) continue;
    seen.add(token);
    const box = token.closest('.notice, .document');
    if (!box || !token.value || 'redo' in token.dataset) continue;
    const path = token.getAttribute('formaction') ?? token.form.getAttribute('action');
    pushUndo(box.querySelector('span, p').textContent.trim().replace(/\.$/, ''), { path, token: token.value });
  }
};
if (palette) {
  collect();
  new MutationObserver(collect).observe(document.body, { childList: true, subtree: true });
}
window.addEventListener('pageshow', () => {
  leaving = false;
});

document.addEventListener('submit', (event) => {
  const path = new URL(event.target.action).pathname;
  /** @type {HTMLInputElement} */
  const input = event.target.querySelector('input[name="undoes"]');
  const { submitter } = event;
  const token = submitter instanceof HTMLButtonElement && submitter.name === 'undoes' ? submitter : input;
  if (token) store(entries().filter((entry) => entry.token !== token.value));
  else if (path === '/sign-out') store([]);
});
document.addEventListener('htmx:beforeRequest', (event) => {
  const { elt } = event.detail;
  if (elt.matches?.('[name="undoes"]')) store(entries().filter((entry) => entry.token !== elt.value));
});

// hasOwnUndo reports whether the browser undoes what is typed in an element.
/** @param {EventTarget} el */
const hasOwnUndo = (el) =>
  el instanceof HTMLElement &&
  (el.isContentEditable ||
    el.matches('textarea, input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])'));
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.altKey || event.shiftKey) return;
  if ((!event.ctrlKey && !event.metaKey) || event.key?.toLowerCase() !== 'z') return;
  if (!palette || hasOwnUndo(event.target) || document.querySelector('dialog:modal')) return;
  event.preventDefault();
  undoLast();
});
