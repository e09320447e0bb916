// @ts-check
// Keys that switch between the main views of an abstract, and links to a row of the other view.
import { typing } from './page.js';

/** @type {Record<string, HTMLAnchorElement>} */
const tabs = { r: document.getElementById('view-runsheet'), d: document.getElementById('view-documents') };

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const tab = tabs[event.key.toLowerCase()];
  if (!tab || typing(event.target)) return;
  event.preventDefault();
  if (tab.hasAttribute('aria-current')) tab.focus();
  else tab.click();
});

// An address with the anchor of a row opens the view that has the row.
const followAnchor = () => {
  const id = location.hash.slice(1);
  if (!id || document.getElementById(id)) return;
  const tab = /^documents?(-\d+)?$/.test(id) ? tabs.d : /^instrument-\d+$|^runsheet$/.test(id) ? tabs.r : null;
  if (tab && !tab.hasAttribute('aria-current')) location.replace(tab.href + location.hash);
};
window.addEventListener('hashchange', followAnchor);
followAnchor();
