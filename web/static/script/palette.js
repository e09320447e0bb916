// @ts-check
// The search box of every page: Ctrl-K or "/" opens it, and results show while the user types.
// Without this script, the page header has a plain form that leads to /find.
import { isSide, signInLink, typing } from './page.js';
import { showActions } from './palette-actions.js';

const isMac = /mac|iphone|ipad/i.test(navigator.userAgentData?.platform || navigator.platform || '');
const storageKey = 'find'; // session storage: the last search, and the result that was opened from it
const typingDelay = 80,
  spinnerDelay = 300,
  maxWait = 20000; // milliseconds

// htmx may replace the page, so no element is cached.
/** @returns {HTMLDialogElement} */
const palette = () => document.getElementById('palette');
/** @type {Query} */
const query = (selector) => palette().querySelector(selector);
/** @returns {HTMLInputElement} */
const searchField = () => query('#palette-q');
const options = () => [...palette().querySelectorAll('a[role="option"]')];
/** @returns {HTMLAnchorElement} */
const selectedOption = () => query('[role="option"][aria-selected="true"]');
const searchText = () => searchField().value.trim() && searchField().value.trimStart().replace(/\s+$/, ' '); // a trailing space marks the last word as complete
/** @param {string} typed */
const isLongEnough = (typed) => (typed.match(/[\p{L}\p{N}]/gu) || []).length >= 2;
/** @param {string} message */
const announce = (message) => {
  query('#palette-said').textContent = message;
};

const currentUser = () => palette()?.dataset.user;
/** @param {string} to */
const storeSearch = (to) => {
  try {
    sessionStorage.setItem(storageKey, JSON.stringify([searchText(), to, currentUser()]));
  } catch {
    /* not allowed */
  }
};
const forgetSearch = () => {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    /* not allowed */
  }
};
const storedSearch = () => {
  try {
    const [typed, to, of] = JSON.parse(sessionStorage.getItem(storageKey));
    if (of === currentUser()) return { typed: String(typed), to: String(to) };
  } catch {
    /* missing, or not allowed */
  }
  return null;
};
// Another user of the same browser must not see the last search.
if (!storedSearch()) forgetSearch();

// At most one request runs at a time, and responses to older requests are ignored. Until the
// response arrives, the list shows results for an older text, so keys that act on the list wait.
/** @type {AbortController} */
let pendingRequest = null;
let timer = 0;
let shownText = '';
let wantedHref = '';
/** @type {KeyboardEvent[]} */
let queuedKeys = [];
const isLoading = () => query('.palette-found').hasAttribute('aria-busy');
const cancelRequest = () => {
  clearTimeout(timer);
  pendingRequest?.abort();
  pendingRequest = null;
  query('.palette-wait').hidden = true;
  query('.palette-found').removeAttribute('aria-busy');
};

// updateEnterHint updates the hint that says what Enter does.
const updateEnterHint = () => {
  const action =
    selectedOption() || queuedKeys.length || (query('[data-leads]') && searchText() === shownText)
      ? 'open'
      : searchText()
        ? 'all results'
        : '';
  query('[data-enter] span').textContent = action;
  query('[data-enter]').hidden = query('[data-enter-apart]').hidden = !action;
};

/** @param {HTMLElement} option */
const select = (option) => {
  selectedOption()?.setAttribute('aria-selected', 'false');
  if (!option) {
    searchField().removeAttribute('aria-activedescendant');
    updateEnterHint();
    return;
  }
  option.setAttribute('aria-selected', 'true');
  searchField().setAttribute('aria-activedescendant', option.id);
  updateEnterHint();
  option.scrollIntoView({ block: 'nearest' });
};

const updateList = () => {
  updateEnterHint();
  const hasOptions = options().length > 0;
  searchField().setAttribute('aria-expanded', String(hasOptions));
  const lists = [...palette().querySelectorAll('[role="listbox"]:not([hidden])')].map((list) => list.id);
  if (hasOptions) searchField().setAttribute('aria-controls', lists.join(' '));
  else searchField().removeAttribute('aria-controls');
  query('.palette-start').hidden = query('.palette-found').hasChildNodes() || !query('.palette-trouble').hidden;
};

/** @param {...(string | Node)} message */
const showProblem = (...message) => {
  query('.palette-trouble span').replaceChildren(...message);
  query('.palette-trouble').hidden = !message.length;
  if (message.length) {
    queuedKeys = [];
    query('.palette-found').replaceChildren();
    select(null);
    shownText = '';
    announce(query('.palette-trouble span').textContent);
  }
  updateList();
};

/**
 * @param {string} html
 * @param {string} typed
 */
const showResults = (html, typed) => {
  const resultPage = new DOMParser().parseFromString(html, 'text/html');
  const queued = queuedKeys;
  queuedKeys = [];
  const previousHref = wantedHref || selectedOption()?.getAttribute('href');
  wantedHref = '';
  select(null);
  query('.palette-found').replaceChildren(...document.importNode(resultPage.body, true).childNodes);
  query('.palette-found').scrollTop = 0;
  shownText = typed;
  showProblem();
  announce(query('[data-said]')?.textContent || '');
  select(previousHref && options().find((option) => option.getAttribute('href') === previousHref));
  queued.forEach(applyKey);
};

/** @param {string} typed */
const fetchResults = async (typed) => {
  cancelRequest();
  const controller = new AbortController();
  pendingRequest = controller;
  query('.palette-found').setAttribute('aria-busy', 'true');
  let timedOut = false;
  const spinnerTimer = setTimeout(() => {
    query('.palette-wait').hidden = false;
    if (!options().length) query('.palette-start').hidden = true;
    if (shownText) return;
    query('.palette-found').replaceChildren(); // the hint that the text was too short
    announce('');
  }, spinnerDelay);
  const timeoutTimer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, maxWait);
  let response, html;
  try {
    response = await fetch(typed ? `/find/box?q=${encodeURIComponent(typed)}` : '/find/recent', {
      headers: { 'HX-Request': 'true', 'HX-Current-URL': location.href },
      signal: controller.signal,
    });
    html = await response.text();
  } catch {
    if (pendingRequest !== controller) return;
    cancelRequest();
    showProblem(timedOut ? 'The search is taking too long.' : "The server isn't responding.");
    return;
  } finally {
    clearTimeout(spinnerTimer);
    clearTimeout(timeoutTimer);
  }
  if (pendingRequest !== controller) return;
  cancelRequest();
  if (response.ok) showResults(html, typed);
  else if (response.status === 401) showProblem('You were signed out. ', signInLink(), '.');
  else
    showProblem(
      new DOMParser().parseFromString(html, 'text/html').querySelector('.problem')?.textContent.trim() ||
        'Something went wrong. Try again.',
    );
};

const updateResults = () => {
  const typed = searchText();
  showActions(searchField().value);
  cancelRequest();
  if (!isLongEnough(typed)) {
    select(null);
    query('.palette-found').replaceChildren();
    shownText = '';
    showProblem();
    if (!typed) {
      announce('');
      updateList();
      timer = setTimeout(fetchResults, 0, ''); // the records that were opened last
      return;
    }
    const note = document.createElement('p');
    note.className = 'palette-said';
    note.textContent = 'Type at least two letters or digits.';
    query('.palette-found').replaceChildren(note);
    announce(note.textContent);
    return updateList();
  }
  if (typed === shownText) return;
  query('.palette-found').setAttribute('aria-busy', 'true');
  timer = setTimeout(fetchResults, typingDelay, typed);
};

const openPalette = () => {
  if (isSide) {
    window.parent.document.querySelector('[data-palette="open"]')?.click();
    return true;
  }
  const dialog = palette();
  if (!dialog || dialog.open || document.querySelector('dialog:modal')) return Boolean(dialog?.open);
  for (const menu of document.querySelectorAll('details.menu[open]')) menu.open = false;
  dialog.showModal();
  if (!searchField().value) {
    const last = storedSearch();
    searchField().value = last?.typed || '';
    wantedHref = last?.to || '';
  }
  searchField().focus();
  searchField().select();
  updateResults();
  return true;
};

// openResult opens the selected result, or the page with all results.
/**
 * @param {HTMLAnchorElement} option
 * @param {boolean} inNewTab
 */
const openResult = (option, inNewTab) => {
  if (option?.matches('[data-press]')) {
    option.click();
    return;
  }
  const to = option ? option.href : `${query('form').action}?q=${encodeURIComponent(searchText())}`;
  storeSearch(option ? option.getAttribute('href') : '');
  if (inNewTab) window.open(to, '_blank', 'noopener');
  else location.assign(to);
};

/** @param {KeyboardEvent} event */
const nextOption = (event) => {
  const list = options();
  const index = list.indexOf(selectedOption());
  switch (event.key) {
    case 'ArrowDown':
      return list[(index + 1) % list.length];
    case 'ArrowUp':
      return list[index > 0 ? index - 1 : list.length - 1];
    case 'Home':
      return index < 0 ? null : list[0];
    case 'End':
      return index < 0 ? null : list[list.length - 1];
    default:
      return null;
  }
};

// applyKey applies a key to the list and reports whether it did anything.
/** @param {KeyboardEvent} event */
const modified = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
/** @param {KeyboardEvent} event */
const applyKey = (event) => {
  if (event.key === 'Enter') {
    if (selectedOption() || searchText()) openResult(selectedOption(), event.ctrlKey || event.metaKey);
    return true;
  }
  const to = !modified(event) && nextOption(event);
  if (to) select(to);
  return Boolean(to);
};
// mustWait reports whether a key must wait until the list has been loaded. Enter waits only
// if other keys are waiting already. Otherwise it acts on the text.
/** @param {KeyboardEvent} event */
const mustWait = (event) => {
  if (!isLoading()) return false;
  if (event.key === 'Enter') return queuedKeys.length > 0;
  return !modified(event) && (queuedKeys.length ? /^(Arrow(Down|Up)|Home|End)$/ : /^Arrow(Down|Up)$/).test(event.key);
};

document.addEventListener('keydown', (event) => {
  if (event.isComposing || event.defaultPrevented || !palette()) return;
  const shortcutKey = isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
  if (
    (shortcutKey && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') ||
    (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !typing(event.target))
  ) {
    if (openPalette()) event.preventDefault();
    return;
  }
  if (event.target !== palette()?.querySelector('#palette-q')) return;
  if (event.key === 'Escape') {
    event.preventDefault(); // some browsers would clear the text first
    palette().close();
    return;
  }
  if (mustWait(event)) {
    queuedKeys.push(event);
    updateEnterHint();
  } else if (!applyKey(event)) {
    return;
  }
  event.preventDefault();
});

document.addEventListener('input', (event) => {
  if (event.target.id !== 'palette-q') return;
  queuedKeys = [];
  select(null);
  wantedHref = '';
  updateResults();
});

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-palette]');
  switch (button?.dataset.palette) {
    case 'open':
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (openPalette()) event.preventDefault();
      return;
    case 'close':
      palette().close();
      return;
    case 'again':
      searchField().focus();
      fetchResults(searchText());
      return;
    default:
  }
  const option = event.target.closest('.palette [role="option"]');
  if (option && isLoading()) event.preventDefault();
  else if (option) storeSearch(option.getAttribute('href'));
  else if (event.target === palette()) palette().close(); // a click outside
});
// Keeps the focus in the text field.
document.addEventListener('mousedown', (event) => {
  if (event.target.closest('.palette [role="option"]')) event.preventDefault();
});
document.addEventListener(
  'close',
  (event) => {
    if (event.target !== palette()) return;
    queuedKeys = [];
    cancelRequest();
  },
  true,
);
document.addEventListener('submit', (event) => {
  if (event.defaultPrevented || new URL(event.target.action).pathname !== '/sign-out') return;
  forgetSearch();
});

if (isMac) {
  for (const name of document.querySelectorAll('[data-keys]')) name.textContent = '⌘ K';
  for (const name of document.querySelectorAll('[data-ctrl]')) name.textContent = '⌘';
}
