// @ts-check
// Waits until the restarted server is ready, and then opens the page that it was restarted from.

/** @type {HTMLElement} */
const section = document.querySelector('[data-restart]');

const poll = async () => {
  try {
    const response = await fetch('/readyz', { cache: 'no-store' });
    if (response.ok) {
      location.replace(section.dataset.restart);
      return;
    }
  } catch {
    /* not listening yet */
  }
  setTimeout(poll, 500);
};
// The server continues for a second, so that this page can load.
if (section) setTimeout(poll, 2000);
