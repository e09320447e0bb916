// @ts-check
// Keeps an open page current. The server reports which records others change, and the page then requests its parts again.
// Text that is being typed stays, and a field that another person has changed in the meantime is marked.
import { announce } from './page.js';

const main = document.getElementById('main');
const follows = (main.dataset.follows ?? '').split(' ').filter(Boolean);
const isRecord = follows.some((record) => record.includes(':'));
// The page of a runsheet is a part of its abstract.
const place = () => location.pathname.replace(/\/runsheet$/, '');
const tab = crypto.getRandomValues(new Uint32Array(2)).join('-');

// concerns reports whether the page shows one of the records. It follows records, or all of a type, and shows others in
// elements that are called after them, such as instrument-7.
/** @param {string[]} records */
const concerns = (records) =>
  records.some((record) => {
    const [type, id] = record.split(':');
    if (follows.includes(record) || follows.includes(type)) return true;
    return isRecord && Boolean(document.getElementById(`${type === 'file' ? 'document' : type}-${id}`));
  });

// ---- parts of the page

// isBusy reports whether someone is using a part, so that it must stay as it is.
/**
 * @param {HTMLElement} part
 * @param {HTMLElement} fresh
 */
const isBusy = (part, fresh) => {
  const active = document.activeElement;
  if (
    part.querySelector(
      '[data-touched], dialog[open], details[open]:not(.fold), input[name=id]:checked, input[name=file]:checked',
    )
  )
    return true;
  if (part.querySelector('.notice') && !fresh.querySelector('.notice')) return true; // it may have an Undo button
  if (part.querySelector('[data-editing]') && !fresh.querySelector('[data-editing]')) return true; // a form that was opened
  if (part.contains(active) && active.matches('input:not([type=checkbox]), select, textarea, [contenteditable]'))
    return true;
  /** @type {NodeListOf<HTMLInputElement>} */
  const controls = part.querySelectorAll('input, textarea');
  return [...controls].some((control) => control.type !== 'checkbox' && control.value !== control.defaultValue);
};
// Attributes that scripts and users set, and the server doesn't.
const ownAttributes = ['disabled', 'open', 'tabindex', 'role', 'style', 'hidden', 'draggable', 'aria-expanded'];
/**
 * @param {HTMLElement} part
 * @param {HTMLElement} fresh
 */
const replace = (part, fresh) => {
  Idiomorph.morph(part, fresh, {
    morphStyle: 'outerHTML',
    ignoreActiveValue: true,
    callbacks: {
      /**
       * @param {string} name
       * @param {Element} _node
       * @param {'update' | 'remove'} change
       */
      beforeAttributeUpdated: (name, _node, change) => change === 'update' || !ownAttributes.includes(name),
    },
  });
  htmx.process(part);
};

// ---- requesting the page again

let waits = false; // a part was busy, or the page was hidden, so the page must be requested again
let failed = false; // the last request failed: no connection, or a response such as 502
let gone = false;
/** @type {Change[]} */
const unread = []; // changes since the page was requested
/** @param {string} text */
const tell = (text) => {
  let line = document.getElementById('live-note');
  if (!line) {
    line = document.createElement('p');
    line.id = 'live-note';
    line.className = 'warning';
    line.setAttribute('role', 'status');
    main.prepend(line);
  }
  line.textContent = text;
};
const refresh = async () => {
  if (document.hidden || gone) {
    waits = true;
    return;
  }
  waits = false;
  failed = false;
  const detail = unread.splice(0);
  if (detail.length) document.dispatchEvent(new CustomEvent('deedkeep:live', { detail }));
  // The viewer requests only what it shows.
  if (!document.dispatchEvent(new Event('deedkeep:refresh', { cancelable: true }))) return;
  const address = new URL(location.href);
  for (const name of ['edit', 'field']) address.searchParams.delete(name); // they open a form
  const response = await fetch(address, { headers: { 'Deedkeep-Background': 'refresh' } });
  if (response.status === 404 || response.status === 410) {
    gone = true;
    tell('This record was moved to the trash or deleted by someone else. What you see here is no longer current.');
  }
  if (response.status >= 500 || response.status === 429) throw new Error(response.statusText);
  if (!response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.isEqualNode(part)) continue;
    if (isBusy(part, fresh)) waits = true;
    else replace(part, fresh);
  }
};

// Time between two requests, in milliseconds. It doubles while changes keep coming. Most changes that a list follows are of
// records that it doesn't show.
const minPause = 1000;
const maxPause = isRecord ? 3000 : 30000;
let pause = minPause;
let latest = 0; // when the last request began
let timer = 0;
let running = false;
let again = false; // something changed during a request
let earliest = 0;
const refreshSoon = () => {
  again = running;
  if (timer || running) return;
  timer = window.setTimeout(
    async () => {
      timer = 0;
      running = true;
      const began = Date.now();
      try {
        await refresh();
      } catch {
        failed = true;
        unread.push({ records: [] });
      }
      running = false;
      pause = began - latest < 2 * pause ? Math.min(2 * pause, maxPause) : minPause;
      latest = began;
      // A page that takes long is requested less often.
      earliest = Date.now() + Math.max(pause, 5 * (Date.now() - began));
      if (again) refreshSoon();
    },
    Math.max(150, earliest - Date.now()) + Math.random() * 200, // not all pages at the same time
  );
};
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && (waits || failed)) refreshSoon();
});
document.addEventListener('focusout', () => {
  if (waits) refreshSoon();
});

// ---- changes

// markFields marks the fields of an open form that another person changed.
/**
 * @param {string[]} fields
 * @param {string} by
 */
const markFields = (fields, by) => {
  for (const control of document.querySelectorAll('[data-editing] :is(input, select, textarea)[name]')) {
    const field = control.closest('.field');
    if (!field || !fields.includes(control.getAttribute('name')) || field.querySelector('.changed-by')) continue;
    const note = document.createElement('p');
    note.className = 'hint changed-by';
    note.textContent = `${by} changed this field while you were editing. Save to choose which value to keep.`;
    field.append(note);
    announce(note.textContent);
  }
};
/** @typedef {{records: string[], by?: string, mine?: boolean, fields?: string[]}} Change */
// changed handles a change. The page doesn't show yet what the user changed while it was loading.
/**
 * @param {Change} change
 * @param {boolean} [loading]
 */
const changed = (change, loading) => {
  if (gone || !concerns(change.records) || (change.mine && document.hasFocus() && !loading)) return;
  if (!change.mine) markFields(change.fields ?? [], change.by || 'Someone');
  if (unread.length > 100) unread.splice(0, unread.length, { records: [] }); // a hidden page during an import
  unread.push(change);
  refreshSoon();
};

// ---- who else is here

/** @param {{page: string, people: {name: string, field: string}[]}} here */
const showPeople = (here) => {
  if (here.page !== place()) return;
  let line = document.getElementById('here');
  if (!line && here.people.length) {
    line = document.createElement('p');
    line.id = 'here';
    line.className = 'muted here';
    line.setAttribute('role', 'status');
    document.querySelector('.page-head')?.append(line);
  }
  if (!line) return;
  const names = here.people.map(({ name, field }) => {
    const label = field && document.querySelector(`[data-field="${CSS.escape(field)}"]`)?.previousElementSibling;
    return label ? `${name} (editing ${label.textContent.trim()})` : name;
  });
  const text = names.length ? `Also here: ${names.join(', ')}` : '';
  if (line.textContent !== text) line.textContent = text;
};
let field = '';
// The connection sends something at least every 15 seconds. A proxy may hold that back.
const silence = 40000;
let heard = 0; // when the connection sent something
let known = Number(main.dataset.since ?? 0); // newest audit log entry whose changes the page has
let missed = 0; // entry after which the page may have missed changes, because a report failed
// report tells the server that the page is open. With since, the server responds with what changed after that entry.
/**
 * @param {number} [since]
 * @param {boolean} [loading]
 */
const report = async (since, loading) => {
  const from = Math.min(since || missed, missed || since || 0);
  missed = from;
  try {
    const response = await fetch('/changes/here', {
      method: 'POST',
      body: new URLSearchParams({
        tab,
        page: document.hidden || !isRecord ? '' : place(),
        field,
        ...(from && { since: String(from) }),
      }),
      headers: { 'HX-Request': 'true' },
    });
    if (!response.ok || response.redirected) return;
    const here = await response.json();
    showPeople(here);
    known = Math.max(known, here.since ?? 0);
    if (from <= missed) missed = 0;
    for (const change of here.missed ?? []) changed(change, loading);
    if (here.changed) {
      unread.push({ records: [] });
      refreshSoon();
    }
  } catch {
    // the next report tells
  }
};
const isSilent = () => Date.now() - heard > silence;
// catchUp requests the changes that the page has missed.
/** @param {number} [within] */
const catchUp = (within = 0) => {
  const since = known;
  setTimeout(() => report(since), Math.random() * within);
  if (failed) refreshSoon();
};
let reportTimer = 0;
/** @param {string} name */
const editing = (name) => {
  if (name === field) return;
  field = name;
  clearTimeout(reportTimer);
  reportTimer = window.setTimeout(() => report(), 300);
};
if (follows.length) {
  setInterval(() => {
    if (document.hidden) return;
    if (isSilent()) return catchUp();
    if (isRecord || missed) report();
    if (failed) refreshSoon();
  }, 30000);
}
if (isRecord) {
  document.addEventListener('visibilitychange', () => report());
  document.addEventListener('focusin', (event) => {
    const control = event.target.closest('[data-editing] :is(input, select, textarea)[name]');
    editing(control?.getAttribute('name') ?? '');
  });
  document.addEventListener('focusout', () => editing(''));
  window.addEventListener('pagehide', () =>
    navigator.sendBeacon('/changes/here', new URLSearchParams({ tab, page: '', field: '' })),
  );
}

// ---- one connection for all tabs of the browser

const channel = new BroadcastChannel('deedkeep-changes');
/** @type {Record<string, (data: any) => void>} */
const receivers = {
  change: changed,
  here: showPeople,
  again: catchUp,
  ping: ({ since }) => {
    known = Math.max(known, since);
  },
};
/** @param {{kind: string, data?: unknown}} message */
const receive = (message) => {
  heard = Date.now();
  receivers[message.kind]?.(message.data);
};
channel.addEventListener('message', (event) => receive(event.data));
/**
 * @param {string} kind
 * @param {unknown} [data]
 */
const pass = (kind, data) => {
  channel.postMessage({ kind, data });
  receive({ kind, data });
};
const maxJitter = 2000; // spreads out the reports of all pages after the server restarts
let opened = false;
// connect opens a connection. It returns how many milliseconds the connection was open, or undefined if the server doesn't
// offer one, such as after a sign-out.
/** @returns {Promise<number | undefined>} */
const connect = () =>
  new Promise((resolve) => {
    const source = new EventSource('/changes');
    let began = 0;
    /** @param {boolean} denied */
    const end = (denied) => {
      source.close();
      document.removeEventListener('visibilitychange', cut);
      resolve(denied ? undefined : began && Date.now() - began);
    };
    const cut = () => end(false);
    for (const kind of ['change', 'here', 'ping']) {
      source.addEventListener(kind, (event) => pass(kind, JSON.parse(/** @type {MessageEvent} */ (event).data)));
    }
    // Something may have changed while there was no connection, also while the page was loading.
    source.addEventListener('open', () => {
      began = Date.now();
      pass('again', opened ? maxJitter : 0);
      opened = true;
    });
    source.addEventListener('end', () => end(true)); // signed out
    source.addEventListener('error', () => end(source.readyState === EventSource.CLOSED));
    if (!navigator.locks) document.addEventListener('visibilitychange', cut);
  });
// Browsers have locks only over HTTPS and on this computer. Without them, each tab has a connection of its own while it is
// visible, because browsers open only six to a server.
const mayConnect = () => Boolean(navigator.locks) || !document.hidden;
const retryAfter = 60000;
// follow reconnects after the connection is lost, with exponential backoff and jitter.
const follow = async () => {
  let wait = 1000;
  while (mayConnect()) {
    const lasted = await connect();
    if (lasted === undefined) return;
    wait = lasted > retryAfter ? 1000 : Math.min(2 * wait, retryAfter);
    if (mayConnect()) await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
  }
};
const run = async () => {
  if (navigator.locks) await navigator.locks.request('deedkeep-changes', follow);
  else await follow();
  if (mayConnect()) setTimeout(run, retryAfter);
  else document.addEventListener('visibilitychange', run, { once: true });
};
if (follows.length) {
  run();
  report(known, true);
}
