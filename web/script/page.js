// Small things that every page does; without this script each of them has a plain way.
(() => {
  'use strict';

  const statusLine = document.createElement('p');
  statusLine.className = 'visually-hidden';
  statusLine.setAttribute('role', 'status');
  document.body.append(statusLine);

  // typing reports whether keys that go to el write something, or belong to what is
  // open: nobody else takes them then. The other scripts have it from here.
  const typing = (el) => el instanceof Element && !!el.closest('input:not([type=file]), select, textarea, [contenteditable], dialog[open], details.menu[open]');
  window.deedkeep = Object.freeze({ typing });

  // Escape closes what is open.
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      const menu = event.target.closest('details.menu[open]') || document.querySelector('details.menu[open]');
      if (!menu) return;
      const inside = menu.contains(document.activeElement);
      menu.open = false;
      if (inside) menu.querySelector('summary').focus();
    }
  });

  // One menu is open at a time, and none when the eye is elsewhere.
  const closeMenus = (but) => {
    for (const menu of document.querySelectorAll('details.menu[open]')) {
      if (!but || !menu.contains(but)) menu.open = false;
    }
  };
  document.addEventListener('click', (event) => closeMenus(event.target));
  document.addEventListener('focusin', (event) => closeMenus(event.target));

  // Where the tabs do not fit, the one that is open is in sight.
  const tab = document.querySelector('.tabs [aria-current]');
  if (tab) tab.parentElement.scrollLeft = tab.offsetLeft - (tab.parentElement.clientWidth - tab.offsetWidth) / 2;

  // On a phone the filters of a list open by a button that says how many are set.
  for (const form of document.querySelectorAll('form.filters')) {
    const fields = [...form.querySelectorAll(':scope > .field')];
    if (fields.length < 3) continue;
    const more = fields.slice(1);
    const set = more.filter((field) => field.querySelector('input, select')?.value).length;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'unfold';
    button.textContent = set ? `Filters (${set})` : 'Filters';
    button.setAttribute('aria-expanded', 'false');
    fields[0].classList.add('first');
    fields[0].after(button);
    form.classList.add('folded');
    button.addEventListener('click', () => {
      button.setAttribute('aria-expanded', String(!form.classList.toggle('folded')));
    });
  }

  // form[data-confirm] and button[data-confirm] ask first; data-confirm is the question.
  const ask = (question, submitter, then) => {
    const dialog = document.createElement('dialog');
    const text = document.createElement('p');
    const row = document.createElement('div');
    const no = document.createElement('button');
    const yes = document.createElement('button');
    text.textContent = question;
    text.id = 'confirm-question';
    dialog.setAttribute('aria-labelledby', text.id);
    dialog.setAttribute('closedby', 'any');
    row.className = 'form-actions';
    no.type = yes.type = 'button';
    no.textContent = 'Cancel';
    yes.textContent = (submitter && (submitter.getAttribute('aria-label') || submitter.textContent).trim()) || 'Continue';
    yes.className = submitter && submitter.classList.contains('danger') ? 'danger primary' : 'primary';
    row.append(no, yes);
    dialog.append(text, row);
    no.addEventListener('click', () => dialog.close());
    yes.addEventListener('click', () => { dialog.close(); then(); });
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  const confirmed = new WeakSet();
  // Capturing comes before htmx, which listens on the form itself.
  document.addEventListener('submit', (event) => {
    const form = event.target;
    const question = (event.submitter && event.submitter.dataset.confirm) || form.dataset.confirm;
    if (!question || confirmed.delete(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask(question, event.submitter, () => {
      confirmed.add(form);
      form.requestSubmit(event.submitter);
    });
  }, true);

  // A second click sends nothing a second time.
  const sent = new WeakSet();
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== 'post' || form.target) return;
    if (sent.has(form)) event.preventDefault();
    sent.add(form);
    setTimeout(() => sent.delete(form), 5000);
  });

  // Whoever comes after somebody who signed out does not see what was being uploaded.
  document.addEventListener('submit', (event) => {
    if (event.defaultPrevented || new URL(event.target.action).pathname !== '/sign-out') return;
    try {
      for (const key of Object.keys(localStorage)) if (key.startsWith('tus::')) localStorage.removeItem(key);
    } catch { /* not allowed here */ }
  });

  // [data-copy] copies its text, or what the element it names ("#id") holds.
  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Without TLS a browser keeps its clipboard to itself, but for this old way.
    const area = document.createElement('textarea');
    area.value = text;
    (document.querySelector('dialog[open]') || document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    if (!done) throw new Error('not copied');
  };
  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]');
    if (!button) return;
    let text = button.dataset.copy;
    if (text.startsWith('#')) {
      const from = document.querySelector(text);
      text = from.value ?? from.textContent.trim();
    }
    try {
      await copy(text);
      statusLine.textContent = 'Copied.';
      button.dataset.copied = '';
      setTimeout(() => { delete button.dataset.copied; statusLine.textContent = ''; }, 2000);
    } catch {
      statusLine.textContent = 'It could not be copied: select it and copy it by hand.';
    }
  });

  // A part of the page that could not be had says so at the top, in the server's words
  // where it gave some.
  const complain = (text) => {
    let problem = document.getElementById('page-problem');
    if (!problem) {
      problem = document.createElement('p');
      problem.id = 'page-problem';
      problem.className = 'problem';
      problem.setAttribute('role', 'alert');
      document.getElementById('main').prepend(problem);
    }
    problem.replaceChildren(...[text].flat());
    problem.scrollIntoView({ block: 'nearest' });
  };
  // A part that is asked for while something is typed does not take the page to where
  // one signs in: what was typed would be lost.
  const altered = (field) => {
    if (field.type === 'hidden' || field.closest('.filters, .find')) return false;
    if (field.type === 'checkbox' || field.type === 'radio') return field.checked !== field.defaultChecked;
    if (field.options) return [...field.options].some((option) => option.selected !== option.defaultSelected) && field.selectedIndex > 0;
    return field.value !== field.defaultValue;
  };
  document.addEventListener('htmx:beforeOnLoad', (event) => {
    const { xhr } = event.detail;
    if (xhr.status !== 401 || !xhr.getResponseHeader('HX-Redirect')) return;
    if (![...document.querySelectorAll('main input, main select, main textarea')].some(altered)) return;
    event.preventDefault();
    const link = document.createElement('a');
    link.href = '/sign-in';
    link.target = '_blank';
    link.rel = 'noopener';
    link.textContent = 'Sign in again in a new tab';
    if (!document.getElementById('page-problem')) complain(['You were signed out. ', link, ', then go on. What you typed is still here.']);
  });
  document.addEventListener('htmx:sendError', () => complain('The server does not answer. What you see is kept; try again in a moment.'));
  document.addEventListener('htmx:responseError', (event) => {
    const answer = new DOMParser().parseFromString(event.detail.xhr.responseText, 'text/html');
    const said = answer.querySelector('.problem');
    if (said?.querySelector('a, time')) { // a way on
      complain([...document.importNode(said, true).childNodes]);
      return;
    }
    complain(said ? said.textContent.trim() : 'That did not work. Load the page anew and try again.');
  });
  document.addEventListener('htmx:afterSwap', () => document.getElementById('page-problem')?.remove());
})();
