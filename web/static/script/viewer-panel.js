// @ts-check
// The panel beside a document: its instruments, and a form for one of them. Without scripts, users
// can do the same with links and forms.
import { applyType, formatDate } from './instrument.js';
import { typing } from './page.js';
import { isPhone, pane, viewer } from './viewer.js';
import { load, store } from './viewer-connection.js';
import {
  addressOf,
  field,
  form,
  goTo,
  panel,
  query,
  request,
  showFailure,
  showNotice,
  shownPage,
  showProblem,
  state,
} from './viewer-panel-base.js';
import { enter, isChanged, readValues, record, redo, startHistory, undo } from './viewer-panel-history.js';
import { accept, acceptAll, hideAccepted, suggestionOf, watchReading } from './viewer-panel-suggestions.js';
import { loadText, takeSelection } from './viewer-panel-text.js';

const toggle = viewer.querySelector('[data-panel-toggle]');

// Opening and closing

/** @param {boolean} on */
const remember = (on) => {
  // On phones, the panel covers the page, so it doesn't open with the next document.
  if (!isPhone()) store('panel', on ? 'on' : 'off');
};
const focusForm = () => {
  const invalid = query('[aria-invalid="true"], .pick input');
  const first =
    invalid || (state.lastField?.isConnected && state.lastField) || query('[autofocus]') || field('type_id');
  if (first) {
    first.focus({ preventScroll: true });
    reveal(first);
  }
  return Boolean(first);
};
// reveal scrolls a field into view, together with the heading of the suggestions, if both fit. On phones, it shows the
// heading of the form.
/** @param {HTMLElement} field */
const reveal = (field) => {
  const fits = () => {
    const box = panel.getBoundingClientRect(),
      { top, bottom } = field.getBoundingClientRect();
    const actions = query('.panel-actions')?.offsetHeight ?? 0;
    return top >= box.top + query('.panel-head').offsetHeight && bottom <= box.bottom - actions;
  };
  if (query('.panel-suggested:not([hidden])')) {
    panel.scrollTop = 0;
    if (!fits()) query(isPhone() ? '#panel-form-heading' : '.panel-suggested').scrollIntoView({ block: 'start' });
  }
  // On phones, where both never fit, the field comes into view when the user taps it.
  if (!fits() && !(isPhone() && query('.panel-suggested:not([hidden])'))) field.scrollIntoView({ block: 'nearest' });
};
/**
 * @param {boolean} on
 * @param {boolean} [focus]
 */
const show = async (on, focus) => {
  panel.hidden = !on;
  toggle.setAttribute('aria-pressed', String(on));
  if (on && (await loadPanel())) goToStart();
  if (on) {
    loadText();
    watchReading();
  }
  if (on && focus && !focusForm()) query('[data-panel-close]')?.focus();
  if (!on) pane.focus({ preventScroll: true });
};
/**
 * @param {boolean} on
 * @param {boolean} [focus]
 */
const toggleTo = (on, focus) => {
  remember(on);
  show(on, focus);
};

// fill replaces the panel with what the server sent. The history is kept if the form is for the same
// instrument.
/**
 * @param {string} html
 * @param {boolean} [again]
 */
const fill = (html, again) => {
  const id = form()?.dataset.id;
  const next = document.createElement('template');
  next.innerHTML = html;
  query('[data-panel-body]').replaceWith(next.content);
  state.lastField = null;
  applyType(form(), false);
  startHistory(again || (id && id !== '0' && id === form()?.dataset.id));
  hideAccepted(true);
  watchReading();
  showOtherPage();
};

// showOtherPage says so if the page that is shown isn't one of the form.
const showOtherPage = () => {
  const line = query('[data-other-page]');
  const input = /** @type {HTMLInputElement | null} */ (query('[data-range]'));
  const pages = input?.value.trim() ?? '';
  const n = shownPage();
  /** @param {string} part */
  const has = (part) => {
    const [from, to = from] = part.split(/[-–]/).map(Number);
    return !(n < from || n > to); // what is no number contains all pages
  };
  const isOther = pages !== '' && !pages.split(',').some(has);
  const name = /[-–,]/.test(pages) ? 'pages' : 'page';
  const text = isOther ? `This form is for ${name} ${pages.replaceAll('-', '–')}, not for page ${n}.` : '';
  if (line && line.textContent !== text) line.textContent = text;
};
viewer.addEventListener('viewer:shown', showOtherPage);
panel.addEventListener('input', showOtherPage);
panel.addEventListener('panel:replayed', showOtherPage);

// open shows the panel of an address.
/** @param {string | URL} address */
const open = async (address) => {
  const response = await request(address);
  if (!response) return false;
  if (!response.ok) {
    await showFailure(response);
    return false;
  }
  fill(await response.text());
  state.rejected = false;
  return true;
};
/** @type {Promise<boolean>} */
let loading = null;
const loadPanel = () => {
  if (query('[data-unloaded]'))
    loading ??= open(addressOf(panel.dataset.instrument)).finally(() => {
      loading = null;
    });
  return loading;
};
// After a sign-in in another tab, a panel that couldn't be loaded is loaded.
window.addEventListener('focus', () => {
  if (!panel.hidden) loadPanel();
});
// Saving

/** @param {string} then */
const submit = (then) => {
  const button = form()?.querySelector(`button[data-then="${then}"]`);
  if (button) form().requestSubmit(button);
};

// A new instrument of a packet starts at the page that is shown, and its page comes into view.
const goToStart = () => {
  const start = Number(form()?.elements.start?.value);
  if (start) goTo(start);
};

// putBack enters what the user typed while a save was under way. It isn't saved yet.
/**
 * @param {string[][]} typed
 * @param {{ name: string, selectionStart: number, selectionEnd: number }} caret
 */
const putBack = (typed, { name, selectionStart, selectionEnd }) => {
  enter(typed);
  const input = form()?.elements[name];
  input?.focus();
  if (input?.setSelectionRange) input.setSelectionRange(selectionStart, selectionEnd);
};

/**
 * @param {HTMLFormElement} sent
 * @param {HTMLElement} submitter
 */
const send = async (sent, submitter) => {
  if (sent !== form() && !mayDiscard()) return;
  const address = submitter?.getAttribute('formaction') || sent.getAttribute('action');
  const body = new URLSearchParams(/** @type {string[][]} */ ([...new FormData(sent, submitter)]));
  body.set('shown', String(shownPage()));
  showProblem();
  const before = readValues();
  const response = await request(address, { method: 'POST', body });
  if (!response) return;
  const typed = sent === form() ? [...readValues()].filter(([name, value]) => before.get(name) !== value) : [];
  const focused = /** @type {HTMLInputElement} */ (document.activeElement);
  const caret = { name: focused.name, selectionStart: focused.selectionStart, selectionEnd: focused.selectionEnd };
  const next = response.headers.get('HX-Redirect'),
    saved = response.headers.get('Content-Location');
  if (response.ok && next && typed.length && !saved) return; // the form was blank, so nothing was saved
  if (response.ok && next && !typed.length) {
    state.rejected = false;
    startHistory();
    location.replace(next); // as with the keys for the next document
    return;
  }
  if (!response.ok && response.status !== 422 && response.status !== 412) {
    await showFailure(response);
    return;
  }
  if (response.ok && typed.length && saved) {
    state.rejected = false;
    startHistory(true);
    // If the form of the saved instrument can't be loaded, this one changes it from now on.
    form().elements.instrument.value = new URL(saved, location.href).searchParams.get('instrument');
    if (!(await open(saved))) return;
    putBack(typed, caret);
    showNotice("The instrument is saved. What you typed since then isn't saved yet.");
    return;
  }
  fill(await response.text(), !response.ok);
  state.rejected = !response.ok;
  if (typed.length) {
    putBack(typed, caret);
    return;
  }
  if (response.ok) goToStart();
  if (!response.ok || form()?.hasAttribute('data-focus')) focusForm();
  else (query('.notice button') || query('a[aria-current]') || query('[data-panel-close]')).focus();
};

panel.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (state.sending) return;
  state.sending = true;
  panel.setAttribute('aria-busy', 'true');
  formatDate(/** @type {HTMLInputElement} */ (document.activeElement));
  try {
    await send(event.target, event.submitter);
  } finally {
    state.sending = false;
    panel.removeAttribute('aria-busy');
  }
});

window.addEventListener('beforeunload', (event) => {
  if (isChanged()) event.preventDefault();
});
const mayDiscard = () => !isChanged() || window.confirm('Discard your changes to this instrument?');

panel.addEventListener('focusin', (/** @type {On<FocusEvent, HTMLInputElement>} */ event) => {
  if (event.target.matches('[data-instrument-form] :is(input, textarea)')) state.lastField = event.target;
});

// The pages of the instrument
/** @param {'first' | 'last'} end */
const setRange = (end) => {
  const input = query('input[data-range]');
  if (!input) return;
  const now = shownPage();
  const match = input.value.trim().match(/^(\d+)(?:\s*[-–]\s*(\d+))?$/);
  let first = match ? Number(match[1]) : now,
    last = match ? Number(match[2] || match[1]) : now;
  if (end === 'first') [first, last] = [now, Math.max(now, last)];
  else [first, last] = [match ? Math.min(first, now) : 1, now];
  input.value = first === last ? String(first) : `${first}-${last}`;
  record();
  showOtherPage();
};

// Clicks

viewer.addEventListener('click', async (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest('[data-panel-toggle]')) toggleTo(panel.hidden, true);
  else if (event.target.closest('[data-panel-close]')) toggleTo(false);
  else if (event.target.closest('[data-range-first]')) setRange('first');
  else if (event.target.closest('[data-range-last]')) setRange('last');
  else if (event.target.closest('[data-accept-all]')) {
    acceptAll();
    focusForm();
  } else if (event.target.closest('[data-accept]')) {
    const button = event.target.closest('[data-accept]');
    accept(button);
    document.getElementById(button.dataset.accept)?.focus();
  } else if (event.target.closest('[data-evidence]')) {
    event.preventDefault();
    goTo(Number(event.target.closest('[data-evidence]').dataset.evidence));
  }
  const link = event.target.closest('[data-panel] a[data-instrument], [data-panel] a[data-new]');
  if (!link) return;
  event.preventDefault();
  const id = link.dataset.instrument || '0';
  const start = link.dataset.start;
  // Users who only read have no form. The panel shows the notes of the instrument.
  const opens = form() ? form().dataset.id !== id || start : !link.hasAttribute('aria-current');
  if (opens && !mayDiscard()) return;
  if (link.dataset.page) goTo(Number(link.dataset.page));
  if (!opens) return;
  const address = addressOf(id);
  if (start) address.searchParams.set('start', start);
  if (!(await open(address))) return;
  if (id === '0') focusForm();
  else query(`a[data-instrument="${id}"]`)?.focus();
});

// Keys

/** @type {Record<string, () => void>} */
const formKeys = {
  F8: () => setRange('first'),
  F9: () => setRange('last'),
};
/** @type {Record<string, number>} */
const pageKeys = { PageDown: 1, PageUp: -1 };
panel.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const { key, target } = event;
  const inForm = target.closest('[data-instrument-form]');
  const control = event.ctrlKey || event.metaKey;
  // These keys turn the page, whatever has the focus. They would select another option of a list.
  if (pageKeys[key] && (target.matches('select') || (!control && !event.altKey && !event.shiftKey))) {
    event.preventDefault();
    goTo(shownPage() + pageKeys[key]);
    return;
  }
  if (event.altKey) return;
  const letter = control && inForm ? key.toLowerCase() : '';
  if (letter === 'y' || (letter === 'z' && event.shiftKey)) {
    event.preventDefault();
    redo();
  } else if (letter === 'z') {
    event.preventDefault();
    undo();
  } else if (key === 'Enter' && inForm && (control || target.matches('select'))) {
    event.preventDefault();
    submit(control && event.shiftKey ? 'another' : 'next');
  } else if (key === 'Escape' && !control) {
    event.preventDefault();
    pane.focus({ preventScroll: true });
  } else if (inForm && key === 'F4' && !control) {
    const button = event.shiftKey ? null : suggestionOf(target);
    if (event.shiftKey) acceptAll();
    else if (button) accept(button);
    if (event.shiftKey || button) event.preventDefault();
  } else if (inForm && formKeys[key] && !control && !event.shiftKey) {
    event.preventDefault();
    formKeys[key]();
  }
});
document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const inPanel = event.target instanceof Element && event.target.closest('[data-panel]');
  if (event.key === 'F2' && (inPanel || !typing(event.target))) {
    if (takeSelection()) event.preventDefault();
    return;
  }
  if (typing(event.target) || event.shiftKey) return;
  if (event.key === 'i') {
    event.preventDefault();
    toggleTo(panel.hidden, true);
  } else if (event.key === 'e') {
    event.preventDefault();
    if (panel.hidden || query('[data-unloaded]')) toggleTo(true, true);
    else focusForm();
  } else if (formKeys[event.key] && !panel.hidden) {
    event.preventDefault();
    formKeys[event.key]();
  }
});

// Start

// With scripts, the browser remembers that the panel is open.
/** @param {string} address */
const withoutPanel = (address) => {
  const url = new URL(address, location.href);
  for (const name of ['panel', 'instrument', 'start']) url.searchParams.delete(name);
  return url;
};
for (const name of ['next', 'previous']) {
  const to = viewer.dataset[name];
  if (to) viewer.dataset[name] = withoutPanel(to).href;
  const link = viewer.querySelector(`a[data-do="document-${name}"]`);
  if (link) link.href = withoutPanel(link.href).href;
}
if (!query('[data-unloaded]')) {
  remember(true);
  applyType(form(), false);
  state.rejected = Boolean(query('[aria-invalid="true"], .pick'));
  startHistory();
  hideAccepted(true);
  watchReading();
  showOtherPage();
  if (form()?.hasAttribute('data-focus') || query('[aria-invalid="true"], .pick')) focusForm();
  history.replaceState(null, '', withoutPanel(location.href));
} else if (load('panel') === 'on' && !isPhone()) {
  show(true, false);
}
