// [data-all] ticks every box of its form, or none.
(() => {
  'use strict';

  document.addEventListener('change', (event) => {
    const form = event.target.form;
    if (!form) return;
    const all = form.querySelector('[data-all]');
    const boxes = [...form.querySelectorAll('input[type="checkbox"]:not([data-all])')];
    if (!all) return;
    if (event.target === all) {
      for (const box of boxes) box.checked = all.checked;
    }
    const ticked = boxes.filter((box) => box.checked).length;
    all.checked = ticked > 0 && ticked === boxes.length;
    all.indeterminate = ticked > 0 && ticked < boxes.length;
  });
})();
