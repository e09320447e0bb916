// What the viewer does besides showing the document: it watches the connection and the session, and
// remembers settings in the browser.
(() => {
  'use strict';

  const keep = (name, value) => { try { localStorage.setItem('viewer.' + name, value); } catch { /* not allowed */ } };
  const kept = (name) => { try { return localStorage.getItem('viewer.' + name); } catch { return null; } };

  // Rotations of documents: [[address, quarter turns], …], most recent first, at most max entries.
  const mostTurned = 500;
  const turns = () => {
    try {
      const list = JSON.parse(kept('turned'));
      return Array.isArray(list) ? list.filter((one) => Array.isArray(one)) : [];
    } catch {
      return [];
    }
  };
  const turnedBy = (address) => {
    const found = turns().find((one) => one[0] === address);
    return found && [1, 2, 3].includes(found[1]) ? found[1] : 0;
  };
  const keepTurned = (address, quarters) => {
    const others = turns().filter((one) => one[0] !== address);
    if (quarters) others.unshift([address, quarters]);
    keep('turned', JSON.stringify(others.slice(0, mostTurned)));
  };

  // The state of the connection: ok, "out" when the session has expired, or "away". While it isn't
  // ok, a message shows in the given element. back() is called when it is ok again.
  const line = (place, back) => {
    const box = document.createElement('p');
    box.className = 'problem viewer-out';
    box.setAttribute('role', 'alert');
    box.hidden = true;
    const words = document.createElement('span');
    box.append(words);
    place.before(box);
    let state = '', timer = 0;

    const tell = () => {
      if (state === 'out') {
        const link = document.createElement('a');
        link.href = '/sign-in';
        link.target = '_blank';
        link.rel = 'noopener';
        link.textContent = 'Sign in again in a new tab';
        words.replaceChildren('You were signed out. ', link, '; this page then goes on by itself.');
      } else {
        words.textContent = 'The server does not answer. This page goes on by itself when it does.';
      }
    };
    const set = (to) => {
      if (to === state) return;
      const was = state;
      state = to;
      box.hidden = !to;
      clearInterval(timer);
      if (to) {
        tell();
        timer = setInterval(look, 5000);
      } else if (was) {
        back();
      }
    };
    // look requests a page that every signed-in user may see.
    const look = async () => {
      let to = '';
      try {
        const reply = await fetch('/me', { method: 'HEAD', redirect: 'manual', cache: 'no-store' });
        if (reply.type === 'opaqueredirect' || reply.status === 401) to = 'out';
        else if (reply.status >= 500) to = 'away';
      } catch {
        to = 'away';
      }
      set(to);
      return to;
    };
    const again = () => { if (state) look(); };
    window.addEventListener('focus', again);
    window.addEventListener('online', again);

    // ask fetches something that requires a session.
    const ask = async (url) => {
      let reply;
      try {
        reply = await fetch(url, { redirect: 'manual' });
      } catch (err) {
        set('away');
        throw err;
      }
      if (reply.type !== 'opaqueredirect' && reply.status !== 401) return reply;
      set('out');
      throw new Error('signed out');
    };
    return { state: () => state, look, ask };
  };

  window.viewerLine = { keep, kept, turnedBy, keepTurned, line };
})();
