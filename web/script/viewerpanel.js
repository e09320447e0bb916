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

  let touched = false; // the form has changes that aren't saved
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
    if (first) first.focus();
    return Boolean(first);
  };
  const show = async (on, focus) => {
    panel.hidden = !on;
    toggle.setAttribute('aria-pressed', String(on));
    if (on && !query('[data-panel-body]')) await open(panel.dataset.source);
    if (on) loadText();
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

  // fill replaces the panel with what the server sent.
  const fill = (html) => {
    const body = query('[data-panel-body]');
    const next = document.createElement('template');
    next.innerHTML = html;
    if (body) body.replaceWith(next.content);
    else panel.prepend(next.content);
    touched = false;
    lastField = null;
    applyType(form(), false);
  };

  // request sends a request that asks for a part of a page. It returns null if the session expired or
  // the server can't be reached.
  const request = async (address, options = {}) => {
    let response;
    try {
      response = await fetch(address, { redirect: 'manual', ...options, headers: { 'HX-Request': 'true' } });
    } catch {
      showProblem("The server isn't responding. What you typed is still here. Try again in a moment.");
      return null;
    }
    if (response.status !== 401 && response.type !== 'opaqueredirect') return response;
    showProblem('You were signed out. ', signInLink(), ', then try again. What you typed is still here.');
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
    return true;
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

  const send = async (sent, submitter) => {
    const address = submitter?.getAttribute('formaction') || sent.getAttribute('action');
    const body = new URLSearchParams(new FormData(sent, submitter));
    body.set('shown', shownPage());
    showProblem();
    const response = await request(address, { method: 'POST', body });
    if (!response) return;
    const next = response.headers.get('HX-Redirect');
    if (response.ok && next) {
      touched = false;
      location.replace(next); // as with the keys for the next document
      return;
    }
    if (!response.ok && response.status !== 422 && response.status !== 412) {
      await showFailure(response);
      return;
    }
    fill(await response.text());
    touched = !response.ok;
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

  panel.addEventListener('input', (event) => {
    if (event.target.closest('[data-instrument-form]')) touched = true;
  });
  window.addEventListener('beforeunload', (event) => {
    if (touched) event.preventDefault();
  });
  const mayDiscard = () => !touched || window.confirm('Discard your changes to this instrument?');

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
    touched = true;
  };

  // Suggestions from the text of the document

  const accept = (button) => {
    const input = document.getElementById(button.dataset.accept);
    if (!input) return;
    input.value = button.dataset.value;
    for (const type of ['input', 'change']) input.dispatchEvent(new Event(type, { bubbles: true }));
    const group = input.closest('details');
    if (group) group.open = true;
    button.closest('li').hidden = true;
    query('.panel-suggested').hidden = !query('.panel-suggested li:not([hidden])');
  };
  const suggestionOf = (input) => input.id && query(`.panel-suggested li:not([hidden]) [data-accept="${CSS.escape(input.id)}"]`);
  // The document type comes first, because it also fills in the usual book type.
  const acceptAll = () => panel.querySelectorAll('.panel-suggested li:not([hidden]) [data-accept]').forEach(accept);

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
    input.dispatchEvent(new Event('input', { bubbles: true }));
    formatDate(input);
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
    if (link.dataset.page) goTo(Number(link.dataset.page));
    const id = link.dataset.instrument || '0';
    if (!form() || form().dataset.id === id || !mayDiscard()) return;
    const address = new URL(panel.dataset.source, location.href);
    if (id === '0') address.searchParams.set('panel', 'new');
    else address.searchParams.set('instrument', id);
    if (!await open(address)) return;
    if (id === '0') focusForm();
    else query(`a[data-instrument="${id}"]`)?.focus();
  });

  // Keys

  const formKeys = {
    F8: () => setRange('first'),
    F9: () => setRange('last'),
    PageDown: () => goTo(shownPage() + 1),
    PageUp: () => goTo(shownPage() - 1),
  };
  panel.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return;
    const { key, target } = event;
    const inForm = target.closest('[data-instrument-form]');
    const control = event.ctrlKey || event.metaKey;
    if (key === 'Enter' && inForm && (control || target.matches('select'))) {
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
    } else if (inForm && formKeys[key] && !control && !event.shiftKey && !(target.matches('select') && key.startsWith('Page'))) {
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
      if (panel.hidden) toggleTo(true, true);
      else focusForm();
    } else if (formKeys[event.key] && event.key.startsWith('F') && !panel.hidden) {
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
  if (query('[data-panel-body]')) {
    remember(true);
    applyType(form(), false);
    if (form()?.hasAttribute('data-focus') || query('[aria-invalid="true"], .pick')) focusForm();
    history.replaceState(null, '', withoutPanel(location.href));
  } else if (load('panel') === 'on' && innerWidth >= 700) {
    show(true, false);
  }
})();
