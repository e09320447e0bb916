// The panel beside a document: its instruments, and a form for one of them. Without scripts, users
// can do the same with links and forms.
(() => {
  'use strict';

  const viewer = document.querySelector('[data-viewer]');
  const panel = viewer?.querySelector('[data-panel]');
  if (!panel) return;
  const query = (selector) => panel.querySelector(selector);
  const pane = viewer.querySelector('[data-pages]');
  const toggle = viewer.querySelector('[data-panel-toggle]');
  const { typing, signInLink } = window.deedkeep;
  const { store, load } = window.viewerLine;
  const { applyType, formatDate } = window.instrumentForm;
  const form = () => query('[data-instrument-form]');
  const field = (name) => form()?.elements[`instrument.${name}`];
  const shownPage = () => Number(viewer.dataset.shown || viewer.dataset.page) || 1;

  let sending = false;
  let lastField = null; // the field that had the focus last
  let selected = ''; // text that was selected in the document

  // Opening and closing

  const remember = (on) => {
    // On phones, the panel covers the page, so it doesn't open with the next document.
    if (innerWidth >= 700) store('panel', on ? 'on' : 'off');
  };
  const focusForm = () => {
    const invalid = query('[aria-invalid="true"], .pick input');
    const first = invalid || (lastField?.isConnected && lastField) || query('[autofocus]') || field('type_id');
    if (first) {
      first.focus({ preventScroll: true });
      reveal(first);
    }
    return Boolean(first);
  };
  // reveal scrolls a field into view, together with the heading of the suggestions, if both fit.
  const reveal = (field) => {
    const fits = () => {
      const box = panel.getBoundingClientRect(), { top, bottom } = field.getBoundingClientRect();
      const actions = query('.panel-actions')?.offsetHeight ?? 0;
      return top >= box.top + query('.panel-head').offsetHeight && bottom <= box.bottom - actions;
    };
    if (query('.panel-suggested:not([hidden])')) {
      panel.scrollTop = 0;
      if (!fits()) query('.panel-suggested').scrollIntoView({ block: 'start' });
    }
    // On phones, where both never fit, the field comes into view when the user taps it.
    if (!fits() && (innerWidth >= 700 || !query('.panel-suggested:not([hidden])'))) field.scrollIntoView({ block: 'nearest' });
  };
  const show = async (on, focus) => {
    panel.hidden = !on;
    toggle.setAttribute('aria-pressed', String(on));
    if (on && await loadPanel()) goToStart();
    if (on) {
      loadText();
      watchReading();
    }
    if (on && focus && !focusForm()) query('[data-panel-close]')?.focus();
    if (!on) pane.focus({ preventScroll: true });
  };
  const toggleTo = (on, focus) => {
    remember(on);
    show(on, focus);
  };

  const showProblem = (...parts) => {
    const line = query('[data-panel-problem]');
    if (!line) return;
    const message = document.createElement('span'); // keeps its text and links on the same lines
    message.append(...parts);
    line.replaceChildren(...(parts.length > 0 ? [message] : []));
    line.scrollIntoView({ block: 'nearest' });
  };

  const showNotice = (text) => {
    const box = document.createElement('div');
    box.className = 'notice';
    box.setAttribute('role', 'status');
    box.textContent = text;
    query('[data-panel-problem]').before(box);
  };
  const say = (text) => { viewer.querySelector('[data-said]').textContent = text; };

  // Changes of the form. base has the values that are stored, and values those after the last step. A step of
  // the history is a list of fields, each with its value before and after.
  let base = new Map(), values = new Map();
  let rejected = false; // the values in base aren't stored
  const past = [], future = [];
  const readValues = () => new Map([...form()?.elements ?? []]
    .filter((el) => el.matches('input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea'))
    .map((el) => [el.name, el.value]));
  const isChanged = () => rejected || [...readValues()].some(([name, value]) => base.get(name) !== value);
  // record adds what changed to the history. Or it joins that with the last step, which changed the named field.
  const record = (joined) => {
    const now = readValues();
    const step = [...now].filter(([name, value]) => values.get(name) !== value)
      .map(([name, value]) => ({ name, from: values.get(name), to: value }));
    values = now;
    if (!step.length) return;
    future.length = 0;
    const last = past.at(-1);
    if (!joined || !last?.some((change) => change.name === joined)) {
      past.push(step);
      return;
    }
    for (const change of step) {
      const earlier = last.find(({ name }) => name === change.name);
      if (earlier) earlier.to = change.to; else last.push(change);
    }
  };
  // startHistory takes the values of a form that was just loaded.
  const startHistory = (keep) => {
    base = readValues();
    values = new Map(base);
    if (!keep) past.length = future.length = 0;
  };
  const replay = (from, to, which, done) => {
    record();
    const step = from.pop();
    if (!step) {
      say(`Nothing to ${done}.`);
      return;
    }
    to.push(step);
    for (const change of step) form().elements[change.name].value = change[which];
    values = readValues();
    applyType(form(), false);
    hideAccepted(true);
    const input = form().elements[step[0].name];
    const group = input.closest('details');
    if (group) group.open = true;
    input.focus();
    say(`${done === 'undo' ? 'Undone' : 'Repeated'}: ${step.map(({ name }) => labelOf(form().elements[name])).join(', ')}.`);
  };
  const labelOf = (input) => input.ariaLabel || input.labels[0]?.textContent || '';

  // fill replaces the panel with what the server sent. The history is kept if the form is for the same
  // instrument.
  const fill = (html, again) => {
    const id = form()?.dataset.id;
    const next = document.createElement('template');
    next.innerHTML = html;
    query('[data-panel-body]').replaceWith(next.content);
    lastField = null;
    applyType(form(), false);
    startHistory(again || id && id !== '0' && id === form()?.dataset.id);
    hideAccepted(true);
    watchReading();
  };

  // request sends a request that asks for a part of a page. It returns null if the session expired or
  // the server can't be reached.
  const request = async (address, options = {}) => {
    let response;
    try {
      response = await fetch(address, { redirect: 'manual', ...options, headers: { 'HX-Request': 'true' } });
    } catch {
      showProblem(`The server isn't responding. ${form() ? 'What you typed is still here. ' : ''}Try again in a moment.`);
      return null;
    }
    if (response.status !== 401 && response.type !== 'opaqueredirect') return response;
    const then = form() ? ', then try again. What you typed is still here.' : '. This panel then continues automatically.';
    showProblem('You were signed out. ', signInLink(), then);
    return null;
  };
  const showFailure = async (response) => {
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    const message = page.querySelector('.problem') || page.querySelector('main p') || page.body;
    showProblem(message.textContent.trim() || 'Something went wrong. Reload the page and try again.');
  };

  // open shows the panel of an address.
  const open = async (address) => {
    const response = await request(address);
    if (!response) return false;
    if (!response.ok) {
      await showFailure(response);
      return false;
    }
    fill(await response.text());
    rejected = false;
    return true;
  };
  let loading = null;
  const loadPanel = () => {
    if (query('[data-unloaded]')) loading ??= open(panel.dataset.source).finally(() => { loading = null; });
    return loading;
  };
  // After a sign-in in another tab, a panel that couldn't be loaded is loaded.
  window.addEventListener('focus', () => { if (!panel.hidden) loadPanel(); });
  const addressOf = (id) => {
    const address = new URL(panel.dataset.source, location.href);
    if (id === '0') address.searchParams.set('panel', 'new');
    else address.searchParams.set('instrument', id);
    return address;
  };

  // Saving

  const submit = (then) => {
    const button = form()?.querySelector(`[data-then="${then}"]`);
    if (button) form().requestSubmit(button);
  };

  // A new instrument of a packet starts at the page that is shown, and its page comes into view.
  const goToStart = () => {
    const start = Number(form()?.elements.start?.value);
    if (start) goTo(start);
  };

  // putBack enters what the user typed while a save was under way. It isn't saved yet.
  const putBack = (typed, { name, selectionStart, selectionEnd }) => {
    for (const [field, value] of typed) {
      const input = form()?.elements[field];
      if (input) input.value = value;
    }
    values = readValues();
    applyType(form(), false);
    const input = form()?.elements[name];
    input?.focus();
    if (input?.setSelectionRange) input.setSelectionRange(selectionStart, selectionEnd);
  };

  const send = async (sent, submitter) => {
    if (sent !== form() && !mayDiscard()) return;
    const address = submitter?.getAttribute('formaction') || sent.getAttribute('action');
    const body = new URLSearchParams(new FormData(sent, submitter));
    body.set('shown', shownPage());
    showProblem();
    const before = readValues();
    const response = await request(address, { method: 'POST', body });
    if (!response) return;
    const typed = sent === form() ? [...readValues()].filter(([name, value]) => before.get(name) !== value) : [];
    const { name, selectionStart, selectionEnd } = document.activeElement;
    const next = response.headers.get('HX-Redirect'), saved = response.headers.get('Content-Location');
    if (response.ok && next && typed.length && !saved) return; // the form was blank, so nothing was saved
    if (response.ok && next && !typed.length) {
      rejected = false;
      startHistory();
      location.replace(next); // as with the keys for the next document
      return;
    }
    if (!response.ok && response.status !== 422 && response.status !== 412) {
      await showFailure(response);
      return;
    }
    if (response.ok && typed.length && saved) {
      rejected = false;
      startHistory(true);
      // If the form of the saved instrument can't be loaded, this one changes it from now on.
      form().elements.instrument.value = new URL(saved, location.href).searchParams.get('instrument');
      if (!await open(saved)) return;
      putBack(typed, { name, selectionStart, selectionEnd });
      showNotice("The instrument is saved. What you typed since then isn't saved yet.");
      return;
    }
    fill(await response.text(), !response.ok);
    rejected = !response.ok;
    if (typed.length) {
      putBack(typed, { name, selectionStart, selectionEnd });
      return;
    }
    if (response.ok) goToStart();
    if (!response.ok || form()?.hasAttribute('data-focus')) focusForm();
    else (query('.notice button') || query('a[aria-current]') || query('[data-panel-close]')).focus();
  };

  panel.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    panel.setAttribute('aria-busy', 'true');
    formatDate(document.activeElement);
    try {
      await send(event.target, event.submitter);
    } finally {
      sending = false;
      panel.removeAttribute('aria-busy');
    }
  });

  // Unsaved changes

  // These listeners follow those that format a date or fill in what belongs to a document type.
  let typedAt = -Infinity;
  for (const type of ['input', 'change']) {
    document.addEventListener(type, (event) => {
      if (!panel.contains(event.target) || !event.target.closest('[data-instrument-form]')) return;
      const fast = event.timeStamp - typedAt < 1000 && event.inputType !== 'insertFromPaste';
      typedAt = event.timeStamp;
      record(type === 'change' || fast ? event.target.name : undefined);
    });
  }
  window.addEventListener('beforeunload', (event) => {
    if (isChanged()) event.preventDefault();
  });
  const mayDiscard = () => !isChanged() || window.confirm('Discard your changes to this instrument?');

  panel.addEventListener('focusin', (event) => {
    if (event.target.matches('[data-instrument-form] :is(input, textarea)')) lastField = event.target;
  });

  // The pages of the instrument

  const goTo = (n) => viewer.dispatchEvent(new CustomEvent('viewer:go', { detail: n }));
  const setRange = (end) => {
    const input = query('[data-range]');
    if (!input) return;
    const now = shownPage();
    const match = input.value.trim().match(/^(\d+)(?:\s*[-–]\s*(\d+))?$/);
    let first = match ? Number(match[1]) : now, last = match ? Number(match[2] || match[1]) : now;
    if (end === 'first') [first, last] = [now, Math.max(now, last)];
    else [first, last] = [match ? Math.min(first, now) : 1, now];
    input.value = first === last ? String(first) : `${first}-${last}`;
    record();
  };

  // Suggestions from the text of the document

  const accept = (button) => {
    const input = document.getElementById(button.dataset.accept);
    if (!input) return;
    record();
    input.value = button.dataset.value;
    typedAt = -Infinity; // a step of its own
    for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
    typedAt = -Infinity;
    const group = input.closest('details');
    if (group) group.open = true;
    button.closest('li').hidden = true;
    hideAccepted(false);
  };
  // hideAccepted hides the list of suggestions if none is left. With all, it shows those again that the form
  // doesn't have.
  const hideAccepted = (all) => {
    const box = query('.panel-suggested');
    if (!box) return;
    for (const button of all ? box.querySelectorAll('[data-accept]') : []) {
      button.closest('li').hidden = document.getElementById(button.dataset.accept)?.value === button.dataset.value;
    }
    box.hidden = !box.querySelector('li:not([hidden])');
  };
  const suggestionOf = (input) => input.id && query(`.panel-suggested li:not([hidden]) [data-accept="${CSS.escape(input.id)}"]`);
  // The document type comes first, because it also fills in the usual book type. All together are one step.
  const acceptAll = () => {
    const at = past.length;
    panel.querySelectorAll('.panel-suggested li:not([hidden]) [data-accept]').forEach(accept);
    const steps = past.splice(at).flat();
    const names = [...new Set(steps.map(({ name }) => name))];
    const changes = names.map((name) => steps.filter((change) => change.name === name));
    if (steps.length) past.push(changes.map((list) => ({ name: list[0].name, from: list[0].from, to: list.at(-1).to })));
  };

  // While the server reads a scan, the panel shows the progress and then the suggestions. What the user typed
  // stays as it is.
  let readingTimer = 0, readingWait = 0;
  const watchReading = (again) => {
    clearTimeout(readingTimer);
    if (!again) readingWait = 2000;
    if (!query('[data-reading]')?.textContent) return;
    readingTimer = setTimeout(updateReading, readingWait);
    readingWait = Math.min(readingWait * 1.5, 30_000);
  };
  const updateReading = async () => {
    const shown = form();
    if (!shown || panel.hidden || document.hidden || sending) {
      watchReading(true);
      return;
    }
    const response = await fetch(addressOf(shown.dataset.id), { redirect: 'manual', headers: { 'HX-Request': 'true' } }).catch(() => null);
    const fresh = document.createElement('template');
    if (response?.ok) fresh.innerHTML = await response.text();
    if (form() !== shown) return; // another form has its own timer
    const line = query('[data-reading]'), state = fresh.content.querySelector('[data-reading]');
    if (state && line.textContent !== state.textContent) line.textContent = state.textContent;
    const box = fresh.content.querySelector('.panel-suggested'), old = query('.panel-suggested');
    if (box && old?.innerHTML !== box.innerHTML) {
      if (old) old.replaceWith(box); else form().querySelector('header').after(box);
      hideAccepted(true);
      if (!box.hidden) say('Suggestions from the text are shown in the panel.');
    }
    watchReading(true);
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden) watchReading(); });

  // Text selected in the document

  const noteSelection = () => {
    const selection = getSelection();
    const text = String(selection);
    if (!text.trim() || !selection.anchorNode) return;
    const place = selection.anchorNode.parentElement;
    if (place?.closest('[data-pages], [data-hits], [data-page-text]') && !typing(place)) selected = text;
  };
  document.addEventListener('selectionchange', noteSelection);
  const takeSelection = () => {
    noteSelection();
    const input = lastField?.isConnected ? lastField : null;
    if (!selected || !input) return false;
    const lines = input.matches('textarea');
    let text = selected.replace(/\r/g, '').trim();
    text = lines ? text.replace(/[^\S\n]+/g, ' ') : text.replace(/\s+/g, ' ');
    // In a sentence, a comma often follows a name or number.
    text = text.replace(/[,;]+$/, '');
    // A field of names gets one name per line.
    if (input.matches('#instrument-grantors, #instrument-grantees') && input.value && input.selectionStart === input.value.length && !input.value.endsWith('\n')) text = `\n${text}`;
    input.focus();
    input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
    record();
    formatDate(input);
    record(input.name);
    return true;
  };

  // The text of the page that is shown

  const textBox = query('[data-page-text]');
  let textOf = 0;
  const loadText = async () => {
    const n = shownPage();
    if (!textBox?.open || panel.hidden || textOf === n) return;
    textOf = n;
    const box = textBox.querySelector('pre');
    const response = await request(`${viewer.dataset.document}/pages/${n}/text`);
    if (textOf !== n) return;
    if (!response?.ok) {
      textOf = 0;
      return;
    }
    const { text } = await response.json();
    box.textContent = text.trim() || "This page has no searchable text. It may be a scan that the server hasn't read yet.";
  };
  textBox?.addEventListener('toggle', loadText);
  let textTimer = 0;
  viewer.addEventListener('viewer:shown', () => {
    clearTimeout(textTimer);
    textTimer = setTimeout(loadText, 200);
  });

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
    const opens = form() && (form().dataset.id !== id || start);
    if (opens && !mayDiscard()) return;
    if (link.dataset.page) goTo(Number(link.dataset.page));
    if (!opens) return;
    const address = addressOf(id);
    if (start) address.searchParams.set('start', start);
    if (!await open(address)) return;
    if (id === '0') focusForm();
    else query(`a[data-instrument="${id}"]`)?.focus();
  });

  // Keys

  const formKeys = {
    F8: () => setRange('first'),
    F9: () => setRange('last'),
  };
  const pageKeys = { PageDown: 1, PageUp: -1 };
  panel.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const { key, target } = event;
    const inForm = target.closest('[data-instrument-form]');
    const control = event.ctrlKey || event.metaKey;
    // These keys turn the page, whatever has the focus. They would select another option of a list.
    if (pageKeys[key] && (target.matches('select') || !control && !event.altKey && !event.shiftKey)) {
      event.preventDefault();
      goTo(shownPage() + pageKeys[key]);
      return;
    }
    if (event.altKey) return;
    const letter = control && inForm ? key.toLowerCase() : '';
    if (letter === 'y' || letter === 'z' && event.shiftKey) {
      event.preventDefault();
      replay(future, past, 'to', 'redo');
    } else if (letter === 'z') {
      event.preventDefault();
      replay(past, future, 'from', 'undo');
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
    rejected = Boolean(query('[aria-invalid="true"], .pick'));
    startHistory();
    hideAccepted(true);
    watchReading();
    if (form()?.hasAttribute('data-focus') || query('[aria-invalid="true"], .pick')) focusForm();
    history.replaceState(null, '', withoutPanel(location.href));
  } else if (load('panel') === 'on' && innerWidth >= 700) {
    show(true, false);
  }
})();
