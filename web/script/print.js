// Prints when all images are loaded.
(async () => {
  'use strict';

  const button = document.querySelector('[data-print]');
  const progress = document.querySelector('[data-progress]');
  const pictures = [...document.querySelectorAll('.viewer-printed img')];
  if (button) button.addEventListener('click', () => window.print());
  let done = 0;
  await Promise.all(pictures.map(async (picture) => {
    try {
      await picture.decode();
    } catch {
      picture.alt = 'There is no picture of this page.';
    }
    done++;
    if (progress) progress.textContent = done < pictures.length ? `Page ${done} of ${pictures.length} is here.` : '';
  }));
  window.print();
})();
