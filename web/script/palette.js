// The search box of every page: Ctrl-K or "/" opens it, and results show while the user types.
// Without this script, the page header has a plain form that leads to /find.
(() => {
  'use strict';

  const mac = /mac|iphone|ipad/i.test(navigator.userAgentData?.platform || navigator.platform || '');
  const key = 'find'; // session storage: the last search, and the result that was opened from it
  const pause = 80, slow = 300, most = 20000; // milliseconds

  // htmx may replace the page, so no element is cached.
  const box = () => document.getElementById('palette');
  const part = (name) => box().querySelector(name);
  const field = () => part('#palette-q');
  const options = () => [...box().querySelectorAll('[role="option"]')];
  const chosen = () => part('[role="option"][aria-selected="true"]');
  const text = () => field().value.trim() && field().value.trimStart().replace(/\s+$/, ' '); // a trailing space says that the last word is complete
  const enough = (typed) => (typed.match(/[\p{L}\p{N}]/gu) || []).length >= 2;
  const said = (words) => { part('#palette-said').textContent = words; };

  const user = () => box()?.dataset.user;
  const remember = (to) => {
    try { sessionStorage.setItem(key, JSON.stringify([text(), to, user()])); } catch { /* not allowed */ }
  };
  const forget = () => {
    try { sessionStorage.removeItem(key); } catch { /* not allowed */ }
  };
  const remembered = () => {
    try {
      const [typed, to, of] = JSON.parse(sessionStorage.getItem(key));
      if (of === user()) return { typed: String(typed), to: String(to) };
    } catch { /* missing, or not allowed */ }
    return null;
  };
  // Another user of the same browser must not see the last search.
  if (!remembered()) forget();

  // At most one request runs at a time, and responses to older ones are ignored. Until the response
  // arrives, the list belongs to another text, so keys that act on the list wait.
  let flight = null, timer = 0, shown = '', wanted = '', ahead = [];
  const busy = () => part('.palette-found').hasAttribute('aria-busy');
  const stop = () => {
    clearTimeout(timer);
    flight?.abort();
    flight = null;
    part('.palette-wait').hidden = true;
    part('.palette-found').removeAttribute('aria-busy');
  };

  // keys updates the hint that says what Enter does.
  const keys = () => {
    const does = chosen() || ahead.length || part('[data-leads]') && text() === shown ? 'open' : text() ? 'all results' : '';
    part('[data-enter] span').textContent = does;
    part('[data-enter]').hidden = part('[data-enter-apart]').hidden = !does;
  };

  const choose = (option) => {
    chosen()?.setAttribute('aria-selected', 'false');
    if (!option) {
      field().removeAttribute('aria-activedescendant');
      keys();
      return;
    }
    option.setAttribute('aria-selected', 'true');
    field().setAttribute('aria-activedescendant', option.id);
    keys();
    option.scrollIntoView({ block: 'nearest' });
  };

  const listed = () => {
    keys();
    const there = options().length > 0;
    field().setAttribute('aria-expanded', String(there));
    if (there) field().setAttribute('aria-controls', 'palette-list');
    else field().removeAttribute('aria-controls');
    part('.palette-start').hidden = part('.palette-found').hasChildNodes() || !part('.palette-trouble').hidden;
  };

  const trouble = (...words) => {
    part('.palette-trouble span').replaceChildren(...words);
    part('.palette-trouble').hidden = !words.length;
    if (words.length) {
      ahead = [];
      part('.palette-found').replaceChildren();
      choose(null);
      shown = '';
      said(part('.palette-trouble span').textContent);
    }
    listed();
  };

  const show = (html, typed) => {
    const answer = new DOMParser().parseFromString(html, 'text/html');
    const due = ahead;
    ahead = [];
    const before = wanted || chosen()?.getAttribute('href');
    wanted = '';
    choose(null);
    part('.palette-found').replaceChildren(...document.importNode(answer.body, true).childNodes);
    part('.palette-found').scrollTop = 0;
    shown = typed;
    trouble();
    said(part('[data-said]')?.textContent || '');
    choose(before && options().find((option) => option.getAttribute('href') === before));
    due.forEach(press);
  };

  const signedOut = () => {
    const link = document.createElement('a');
    link.href = '/sign-in';
    link.target = '_blank';
    link.rel = 'noopener';
    link.textContent = 'Sign in again in a new tab';
    return ['You were signed out. ', link, '.'];
  };

  const ask = async (typed) => {
    stop();
    const own = flight = new AbortController();
    part('.palette-found').setAttribute('aria-busy', 'true');
    let late = false;
    const waiting = setTimeout(() => {
      part('.palette-wait').hidden = false;
      if (!options().length) part('.palette-start').hidden = true;
      if (shown) return;
      part('.palette-found').replaceChildren(); // the hint that the text was too short
      said('');
    }, slow);
    const end = setTimeout(() => {
      late = true;
      own.abort();
    }, most);
    let reply, html;
    try {
      reply = await fetch(`/find/box?q=${encodeURIComponent(typed)}`, { headers: { 'HX-Request': 'true', 'HX-Current-URL': location.href }, signal: own.signal });
      html = await reply.text();
    } catch {
      if (flight !== own) return;
      stop();
      trouble(late ? 'The server takes very long.' : 'The server does not answer.');
      return;
    } finally {
      clearTimeout(waiting);
      clearTimeout(end);
    }
    if (flight !== own) return;
    stop();
    if (reply.ok) show(html, typed);
    else if (reply.status === 401) trouble(...signedOut());
    else trouble(new DOMParser().parseFromString(html, 'text/html').querySelector('.problem')?.textContent.trim() || 'That did not work.');
  };

  const look = () => {
    const typed = text();
    stop();
    if (!enough(typed)) {
      choose(null);
      part('.palette-found').replaceChildren();
      shown = '';
      trouble();
      if (!typed) return said('');
      const note = document.createElement('p');
      note.className = 'palette-said';
      note.textContent = 'Type at least two letters or digits.';
      part('.palette-found').replaceChildren(note);
      said(note.textContent);
      return listed();
    }
    if (typed === shown) return;
    part('.palette-found').setAttribute('aria-busy', 'true');
    timer = setTimeout(ask, pause, typed);
  };

  const open = () => {
    const dialog = box();
    if (!dialog || dialog.open || document.querySelector('dialog:modal')) return Boolean(dialog?.open);
    for (const menu of document.querySelectorAll('details.menu[open]')) menu.open = false;
    dialog.showModal();
    if (!field().value) {
      const last = remembered();
      field().value = last?.typed || '';
      wanted = last?.to || '';
    }
    field().focus();
    field().select();
    look();
    return true;
  };

  // go opens the selected result, or the page with all results.
  const go = (option, apart) => {
    const to = option ? option.href : `${part('form').action}?q=${encodeURIComponent(text())}`;
    remember(option ? option.getAttribute('href') : '');
    if (apart) window.open(to, '_blank', 'noopener');
    else location.assign(to);
  };

  const step = (event) => {
    const list = options();
    const at = list.indexOf(chosen());
    switch (event.key) {
      case 'ArrowDown': return list[(at + 1) % list.length];
      case 'ArrowUp': return list[at > 0 ? at - 1 : list.length - 1];
      case 'Home': return at < 0 ? null : list[0];
      case 'End': return at < 0 ? null : list[list.length - 1];
      default: return null;
    }
  };

  // press applies a key to the list and reports whether it did anything.
  const modified = (event) => event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  const press = (event) => {
    if (event.key === 'Enter') {
      if (chosen() || text()) go(chosen(), event.ctrlKey || event.metaKey);
      return true;
    }
    const to = !modified(event) && step(event);
    if (to) choose(to);
    return Boolean(to);
  };
  // early reports whether a key must wait for the list that is being loaded. Enter alone acts on
  // the text.
  const early = (event) => {
    if (!busy()) return false;
    if (event.key === 'Enter') return ahead.length > 0;
    return !modified(event) && (ahead.length ? /^(Arrow(Down|Up)|Home|End)$/ : /^Arrow(Down|Up)$/).test(event.key);
  };

  document.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented || !box()) return;
    const held = mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
    if (held && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k'
      || event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !window.deedkeep.typing(event.target)) {
      if (open()) event.preventDefault();
      return;
    }
    if (event.target !== box()?.querySelector('#palette-q')) return;
    if (event.key === 'Escape') {
      event.preventDefault(); // some browsers would clear the text first
      box().close();
      return;
    }
    if (early(event)) {
      ahead.push(event);
      keys();
    } else if (!press(event)) {
      return;
    }
    event.preventDefault();
  });

  document.addEventListener('input', (event) => {
    if (event.target.id !== 'palette-q') return;
    ahead = [];
    choose(null);
    wanted = '';
    look();
  });

  document.addEventListener('click', (event) => {
    const button = event.target.closest('[data-palette]');
    switch (button?.dataset.palette) {
      case 'open':
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (open()) event.preventDefault();
        return;
      case 'close': box().close(); return;
      case 'again':
        field().focus();
        ask(text());
        return;
      default:
    }
    const option = event.target.closest('.palette [role="option"]');
    if (option && busy()) event.preventDefault();
    else if (option) remember(option.getAttribute('href'));
    else if (event.target === box()) box().close(); // a click outside
  });
  // Keeps the focus in the text field.
  document.addEventListener('mousedown', (event) => {
    if (event.target.closest('.palette [role="option"]')) event.preventDefault();
  });
  document.addEventListener('close', (event) => {
    if (event.target !== box()) return;
    ahead = [];
    stop();
  }, true);
  document.addEventListener('submit', (event) => {
    if (event.defaultPrevented || new URL(event.target.action).pathname !== '/sign-out') return;
    forget();
  });

  if (mac) {
    for (const name of document.querySelectorAll('[data-keys]')) name.textContent = '⌘ K';
    for (const name of document.querySelectorAll('[data-ctrl]')) name.textContent = '⌘';
  }
})();
