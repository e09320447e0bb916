// @ts-check
// Keys that go to the runsheet and the documents of an abstract.
import { typing } from './page.js';

// N in the runsheet starts a row only if no cell is selected, so R selects none.
/** @type {Record<string, string>} */
const sections = { r: 'runsheet', d: 'documents' };

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const section = document.getElementById(sections[event.key.toLowerCase()] ?? '');
  if (!section || typing(event.target)) return;
  event.preventDefault();
  section.scrollIntoView();
  const target = section.querySelector('.document-name a') ?? section;
  if (target === section) section.tabIndex = -1;
  target.focus({ preventScroll: true });
});
