// @ts-check
// The buttons that move selected documents of a folder or an abstract, or move them to the trash.

export const boxes = () => [...document.querySelectorAll('.documents input[name=file]')];

export const updateToolbar = () => {
  const selectedCount = boxes().filter((box) => box.checked).length;
  const bar = document.querySelector('.toolbar:has([data-chosen])');
  if (!bar) return;
  bar.querySelector('[data-chosen]').textContent = selectedCount ? `${selectedCount} selected` : '';
  bar.toggleAttribute('data-selected', selectedCount > 0);
  /** @type {NodeListOf<HTMLButtonElement | HTMLSelectElement>} */
  const controls = bar.querySelectorAll('[data-move], [data-trash], #to');
  for (const el of controls) el.disabled = !selectedCount;
  const trash = bar.querySelector('[data-trash]');
  trash.dataset.confirm =
    selectedCount === 1 ? 'Move this document to the trash?' : `Move these ${selectedCount} documents to the trash?`;
};
document.addEventListener('deedkeep:chosen', updateToolbar); // dispatched by choose.js
document.addEventListener('htmx:afterSettle', updateToolbar);
updateToolbar();
