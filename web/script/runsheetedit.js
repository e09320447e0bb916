// Edits the runsheet in place: cells, new rows, rows pasted from a spreadsheet, the sequence, and the
// trash. Without scripts, users can do the same with forms.
(() => {
  'use strict';

  const sheet = window.runsheet;
  if (!sheet?.editable) return;
  const { section, table, body, headers, fields, columnCount } = sheet;
  const path = section.dataset.path;

  // ---- messages and requests

  const show = (kind, text, label, act) => {
    const box = document.createElement('div');
    box.className = kind;
    box.setAttribute('role', kind === 'notice' ? 'status' : 'alert');
    const line = document.createElement('span');
    line.textContent = text;
    box.append(line);
    if (label) {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'quiet';
      button.textContent = label;
      button.addEventListener('click', act);
      box.append(button);
    }
    document.getElementById('runsheet-notices').replaceChildren(box);
  };
  const clearMessages = () => document.getElementById('runsheet-notices').replaceChildren();

  const post = (address, values, accept) => fetch(address, {
    method: 'POST', body: new URLSearchParams(values), headers: { 'HX-Request': 'true', Accept: accept },
  });
  // problemOf returns the message in a response that has no data.
  const problemOf = (status, text) => {
    if (status === 401) return 'You were signed out. Sign in again in a new tab, then try again. What you typed is still here.';
    const message = new DOMParser().parseFromString(text, 'text/html').querySelector('.problem');
    return message?.textContent.trim() || 'Something went wrong. Reload the page and try again.';
  };
  // send sends a form and returns the state in the response. The state has a problem if it failed, and
  // "unsent" if it can be sent again later.
  const send = async (address, values) => {
    try {
      const response = await post(address, values, 'application/json');
      const text = await response.text();
      if (response.headers.get('Content-Type')?.startsWith('application/json')) return JSON.parse(text);
      return { problem: problemOf(response.status, text), unsent: response.status === 401 };
    } catch {
      return { problem: "The server isn't responding. What you typed is still here. Try again in a moment.", unsent: true };
    }
  };

  // Requests are sent one after another, so that the cells of a new row find their instrument.
  let queue = Promise.resolve();
  let queued = 0;
  const enqueue = (work) => {
    queued++;
    queue = queue.then(work).catch((error) => {
      show('problem', 'Something went wrong. Reload the page and try again.');
      console.error(error);
    }).finally(() => { queued--; });
  };

  // ---- rows from the server

  const isSaved = (tr) => /^\d+$/.test(tr.dataset.id);
  const nameOf = (cell) => {
    const number = cell.parentElement.querySelector('.number')?.textContent;
    return `${number ? 'Row ' + number : 'New row'}, ${headers[cell.cellIndex].textContent}`;
  };

  // A note below the row of a cell says why the cell isn't saved, and offers what to do.
  const notes = new Map(); // rows with notes, by cell
  const placeNotes = () => {
    for (const [cell, tr] of notes) {
      const row = cell.parentElement;
      if (!cell.isConnected) {
        removeNote(cell);
        continue;
      }
      if (row.nextElementSibling !== tr) row.after(tr);
      tr.hidden = row.hidden;
      const box = tr.firstElementChild.firstElementChild;
      box.style.marginInlineStart = `${Math.max(Math.min(cell.offsetLeft, table.offsetWidth - box.offsetWidth - 16), 0)}px`;
    }
  };
  const removeNote = (cell) => {
    notes.get(cell)?.remove();
    notes.delete(cell);
  };
  const showNote = (cell, kind, text, choices) => {
    removeNote(cell);
    const tr = document.createElement('tr');
    tr.className = 'cell-note';
    const holder = tr.insertCell();
    holder.colSpan = headers.length;
    const box = document.createElement('div');
    box.className = kind;
    box.setAttribute('role', 'alert');
    box.id = `note-${cell.parentElement.dataset.id}-${cell.cellIndex}`;
    const line = document.createElement('span');
    line.textContent = `${nameOf(cell)}: ${text}`;
    box.append(line);
    for (const [label, act] of Object.entries(choices)) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.addEventListener('click', act);
      box.append(button);
    }
    tr.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      discard(cell);
    });
    holder.append(box);
    notes.set(cell, tr);
    placeNotes();
    box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  section.addEventListener('runsheet:arranged', placeNotes);
  window.addEventListener('resize', placeNotes);

  const parseRow = (html) => {
    const holder = document.createElement('template');
    holder.innerHTML = html;
    return holder.content.querySelector('tr');
  };
  const shownText = (cell) => cell.dataset.edit ?? cell.textContent.trim();

  let editor = null; // the open editor: {cell, input, was, content}
  const unsaved = new Map(); // cells that are not saved yet: {value, was, content}

  const updateRow = (tr, fresh) => {
    tr.id = fresh.id;
    for (const name of ['id', 'category', 'status']) tr.dataset[name] = fresh.dataset[name];
    [...fresh.cells].forEach((cell, n) => {
      const old = tr.cells[n];
      const holders = [unsaved.get(old), editor?.cell === old && editor].filter(Boolean);
      if (holders.length) {
        for (const holder of holders) holder.content = [...cell.childNodes];
        if ('label' in cell.dataset) old.dataset.label = cell.dataset.label;
        if ('edit' in cell.dataset) old.dataset.edit = cell.dataset.edit;
        return;
      }
      for (const name of ['data-label', 'data-edit', 'data-amount', 'class']) {
        if (cell.hasAttribute(name)) old.setAttribute(name, cell.getAttribute(name)); else old.removeAttribute(name);
      }
      old.replaceChildren(...cell.childNodes);
    });
    sheet.prepare(tr);
  };
  const newRow = () => document.getElementById('instrument-new');
  const apply = (state, tr) => {
    for (const row of state.rows ?? []) {
      const fresh = parseRow(row.html);
      const current = row.id === state.id && tr ? tr : document.getElementById(fresh.id);
      if (current) {
        updateRow(current, fresh);
      } else {
        sheet.prepare(fresh);
        newRow().before(fresh);
      }
    }
    if (state.sequence) document.getElementById('runsheet-sort')?.toggleAttribute('hidden', !state.chosen);
    if (state.sequence) {
      sheet.update(state.sequence, state.gaps, tr);
      document.body.dispatchEvent(new Event('runsheet:changed')); // for suggestions that the change makes obsolete
    }
    placeNotes();
  };

  // ---- editing a cell

  const canEdit = (cell) => cell && sheet.isRow(cell.parentElement) && cell.cellIndex < columnCount
    && !['number', 'documents'].includes(fields[cell.cellIndex]);

  const lists = { type: 'runsheet-types', status: 'runsheet-statuses' };
  const control = (field) => {
    const input = document.createElement(field === 'remarks' ? 'textarea' : 'input');
    input.autocomplete = 'off';
    input.spellcheck = field === 'remarks';
    if (lists[field]) input.setAttribute('list', lists[field]);
    if (field === 'status') input.placeholder = 'Automatic';
    return input;
  };
  let entering = false; // Tab goes from cell to cell once the user has edited one
  const open = (cell, typed) => {
    if (!canEdit(cell)) return;
    sheet.select(cell);
    const failed = unsaved.get(cell);
    const input = control(fields[cell.cellIndex]);
    input.setAttribute('aria-label', nameOf(cell));
    input.value = typed ?? failed?.value ?? shownText(cell);
    if (notes.has(cell)) input.setAttribute('aria-describedby', notes.get(cell).querySelector('[role]').id);
    editor = { cell, input, was: failed?.was ?? shownText(cell), content: failed?.content ?? [...cell.childNodes] };
    cell.replaceChildren(input);
    cell.removeAttribute('aria-invalid');
    input.focus();
    // The caret is at the end, so that one key never replaces what the cell has.
    input.setSelectionRange(input.value.length, input.value.length);
    entering = true;
    input.addEventListener('blur', () => {
      if (editor?.input === input && document.hasFocus()) commit();
    });
  };
  const close = (...content) => {
    const { cell } = editor;
    editor = null;
    cell.replaceChildren(...content);
    sheet.prepare(cell);
  };
  const forget = (cell) => {
    if (unsaved.delete(cell) && !unsaved.size) clearMessages();
    cell.classList.remove('unsaved');
    cell.removeAttribute('aria-invalid');
    removeNote(cell);
  };
  const cancel = () => {
    const { cell, content } = editor;
    forget(cell);
    close(...content);
  };
  // discard restores a cell that isn't saved. A new row without another cell is removed.
  const discard = (cell) => {
    const entry = unsaved.get(cell), tr = cell.parentElement;
    if (editor?.cell === cell) {
      cancel();
    } else {
      forget(cell);
      if (entry) cell.replaceChildren(...entry.content);
    }
    const isBlank = !isSaved(tr) && tr !== newRow() && ![...tr.cells].some((other) => unsaved.has(other));
    sheet.select(isBlank ? newRow().cells[cell.cellIndex] : cell);
    if (isBlank) tr.remove();
  };
  const commit = () => {
    const { cell, input, was, content } = editor;
    const value = input.value.trim();
    if (value === was) {
      cancel();
      return;
    }
    const entry = { value, was, content };
    close(value);
    unsaved.set(cell, entry);
    cell.classList.add('unsaved');
    save(cell, entry);
  };
  // startRow makes the blank row at the end a row of its own and adds another blank one.
  const startRow = (tr) => {
    const blank = tr.cloneNode(true);
    for (const cell of [...blank.cells].slice(1)) {
      cell.replaceChildren();
      cell.removeAttribute('tabindex');
      cell.classList.remove('unsaved');
    }
    tr.removeAttribute('id');
    tr.className = '';
    tr.dataset.id = 'pending';
    tr.after(blank);
    document.getElementById('runsheet-empty')?.remove();
  };
  const save = (cell, entry) => {
    const tr = cell.parentElement;
    if (tr === newRow()) startRow(tr);
    enqueue(async () => {
      if (unsaved.get(cell) !== entry) return; // the user changed the cell again
      const added = !isSaved(tr);
      const address = added ? `${path}/instruments/row` : `/instruments/${tr.dataset.id}/cell`;
      const values = { field: fields[cell.cellIndex], value: entry.value, was: entry.was };
      if (entry.keep) values.keep = entry.value;
      if (entry.both) values.both = entry.value;
      const state = await send(address, values);
      const fresh = (state.rows ?? []).filter((row) => row.id === state.id).map((row) => parseRow(row.html))[0]?.cells[cell.cellIndex];
      const later = unsaved.get(cell);
      if (fresh && later) later.was = shownText(fresh);
      if (editor?.cell === cell && fresh) editor.was = shownText(fresh);
      if (state.problem || state.question) {
        apply(state, tr);
        if (later === entry) fail(cell, entry, state);
        return;
      }
      if (later === entry) forget(cell);
      apply(state, tr);
      if (added) remember(trashStep(state.id));
      else if (state.before) remember(cellStep(state.id, cell.cellIndex, state.before, shownText(fresh)));
      if (!unsaved.size) clearMessages();
    });
  };
  // fail marks a cell that was not saved. It moves the focus only if the user is still at the cell.
  const fail = (cell, entry, { problem, question, duplicate, position }) => {
    cell.classList.remove('unsaved');
    cell.setAttribute('aria-invalid', 'true');
    const keep = () => {
      const now = unsaved.get(cell);
      sheet.select(cell);
      if (now?.value !== entry.value) return;
      now[duplicate ? 'both' : 'keep'] = true;
      save(cell, now);
    };
    const change = { Change: () => open(cell) };
    let choices = { ...change, Discard: () => discard(cell) };
    if (duplicate) choices = { 'Keep both': keep, [`Open No. ${position}`]: () => sheet.select(sheet.rowOf(duplicate)?.cells[1]), ...change };
    else if (question) choices = { Keep: keep, ...change };
    showNote(cell, question ? 'warning' : 'problem', question ?? problem, choices);
    if (editor || document.activeElement !== cell) return;
    if (question) notes.get(cell).querySelector('button:last-child').focus();
    else open(cell);
  };

  // ---- undo

  // A step changes something back when it is run. Then it returns the step that repeats the change. If it
  // failed, it returns the state of the response.
  const past = [], future = [];
  let revert; // takes back the last change or undo
  const remember = (step) => {
    past.push(step);
    future.length = 0;
    showSteps();
    revert = undo;
  };
  const buttons = { undo: document.getElementById('runsheet-undo'), redo: document.getElementById('runsheet-redo') };
  const showSteps = () => {
    if (buttons.undo) buttons.undo.disabled = !past.length;
    if (buttons.redo) buttons.redo.disabled = !future.length;
  };
  const runStep = async (from, to, done) => {
    const step = from.pop();
    if (!step) {
      sheet.announce(`Nothing to ${done}.`);
      return;
    }
    const result = await step();
    if (typeof result === 'function') to.push(result);
    else if (result?.unsent) from.push(step);
    showSteps();
    revert = to === past ? undo : redo;
  };
  const undo = () => enqueue(() => runStep(past, future, 'undo'));
  const redo = () => enqueue(() => runStep(future, past, 'redo'));

  buttons.undo?.addEventListener('click', undo);
  buttons.redo?.addEventListener('click', redo);

  const cellStep = (id, at, before, was) => async () => {
    const state = await send(`/instruments/${id}/cell`, { field: fields[at], restore: JSON.stringify(before), was });
    const tr = document.getElementById(`instrument-${id}`);
    if (!tr) {
      show('problem', state.problem ?? 'The row is no longer in this runsheet.');
      return state;
    }
    const cell = tr.cells[at];
    apply(state, tr);
    sheet.select(cell);
    if (state.problem) {
      showNote(cell, 'problem', state.problem, { Close: () => discard(cell) });
      return state;
    }
    sheet.announce(`${nameOf(cell)}: ${shownText(cell) || 'blank'} again.`);
    return state.before ? cellStep(id, at, state.before, shownText(cell)) : null;
  };
  const trashStep = (id) => async () => {
    const state = await send(`/instruments/${id}/trash`, {});
    if (state.problem) {
      show('problem', state.problem);
      return state;
    }
    const tr = document.getElementById(`instrument-${id}`);
    const at = sheet.active()?.cellIndex ?? 1;
    if (tr.contains(sheet.active()) || tr.contains(document.activeElement)) sheet.select((sheet.step(tr, 1) || sheet.step(tr, -1)).cells[at]);
    for (const cell of tr.cells) unsaved.delete(cell);
    tr.remove();
    apply(state);
    show('notice', state.notice, 'Undo', () => revert());
    return restoreStep(id);
  };
  const restoreStep = (id) => async () => {
    const state = await send(`/instruments/${id}/restore`, {});
    if (state.problem) {
      show('problem', state.problem);
      return state;
    }
    apply(state);
    show('notice', state.notice);
    sheet.select(document.getElementById(`instrument-${id}`)?.cells[1]);
    return trashStep(id);
  };
  const moveStep = (id, position) => async () => {
    const old = sheet.sequence().indexOf(String(id)) + 1;
    const state = await send(`/instruments/${id}/move`, { position });
    if (state.problem) {
      show('problem', state.problem);
      return state;
    }
    apply(state);
    sheet.select(document.getElementById(`instrument-${id}`)?.cells[1]);
    sheet.announce(`Moved back to position ${position}.`);
    return moveStep(id, old);
  };
  // sequenceStep sets the sequence of the runsheet or, if ids is blank, sorts it by recording date.
  const sequenceStep = (ids) => async () => {
    const was = sheet.sequence().join();
    const state = await send(`${path}/instruments/sort`, { sequence: ids, was });
    if (!state.problem || state.rows) apply(state);
    if (state.problem) {
      show('problem', state.problem);
      return state;
    }
    show('notice', state.notice, 'Undo', () => revert());
    return sequenceStep(ids ? '' : was);
  };
  const viewStep = (view) => () => {
    const now = sheet.view();
    sheet.setView(view);
    return viewStep(now);
  };
  // perform runs a step that the user selected, and remembers the one that undoes it.
  const perform = (step) => enqueue(async () => {
    const opposite = await step();
    if (typeof opposite === 'function') remember(opposite);
  });

  // ---- keys

  const next = (cell, by) => {
    do {
      const { parentElement: tr, cellIndex } = cell;
      cell = tr.cells[cellIndex + by];
      if (!cell || cell.cellIndex >= columnCount) {
        const other = sheet.step(tr, by);
        cell = other?.cells[by > 0 ? 0 : columnCount - 1];
      }
    } while (cell && !canEdit(cell));
    return cell;
  };
  const editKey = (event) => {
    const { cell, input } = editor;
    if (event.key === 'Escape') {
      discard(cell);
    } else if (event.key === 'Enter' && event.altKey && input.tagName === 'TEXTAREA') {
      input.setRangeText('\n', input.selectionStart, input.selectionEnd, 'end');
    } else if (event.key === 'Enter' && !event.altKey) {
      commit();
      sheet.select(cell);
    } else if (event.key === 'Tab') {
      commit();
      sheet.select(next(cell, event.shiftKey ? -1 : 1) ?? cell);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const cellKey = (event, cell) => {
    const tr = cell.parentElement;
    const command = event.ctrlKey || event.metaKey;
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      moveRow(tr, event.key === 'ArrowUp' ? -1 : 1);
    } else if (event.key === 'Insert' || command && event.key === 'Enter') {
      sheet.select(newRow().cells[1]);
    } else if (event.key === 'Delete' && (command || fields[cell.cellIndex] === 'number')) {
      trash(tr);
    } else if (command || event.altKey) {
      return;
    } else if (event.key === 'Enter' && fields[cell.cellIndex] === 'number') {
      tr.querySelector('.actions a')?.click();
    } else if ((event.key === 'Enter' || event.key === 'F2') && canEdit(cell)) {
      open(cell);
    } else if ((event.key === 'Delete' || event.key === 'Backspace') && canEdit(cell) && shownText(cell)) {
      open(cell, '');
      commit();
      sheet.announce('Cleared. Ctrl+Z restores it.');
      sheet.select(cell);
    } else if (event.key === 'Tab' && entering && next(cell, event.shiftKey ? -1 : 1)) {
      sheet.select(next(cell, event.shiftKey ? -1 : 1));
    } else if (event.key.length === 1 && event.key !== ' ' && canEdit(cell)) {
      open(cell, event.key);
    } else {
      return;
    }
    event.preventDefault();
  };
  table.addEventListener('keydown', (event) => {
    if (event.isComposing || event.defaultPrevented || !event.key) return;
    if (editor?.input === event.target) editKey(event);
    else if (event.target === sheet.active()) cellKey(event, event.target);
  });
  // This listener precedes the one that leaves the runsheet.
  table.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || editor || event.target !== sheet.active() || !notes.has(event.target)) return;
    event.preventDefault();
    discard(event.target);
  }, true);
  table.addEventListener('dblclick', (event) => {
    const cell = event.target.closest('td');
    if (cell && !editor && canEdit(cell) && !event.target.closest('a, button')) open(cell);
  });
  document.addEventListener('focusin', (event) => {
    if (!table.contains(event.target)) entering = false;
  });
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || !event.ctrlKey && !event.metaKey || window.deedkeep.typing(event.target)) return;
    const key = event.key?.toLowerCase();
    if (key !== 'z' && key !== 'y') return;
    event.preventDefault();
    if (key === 'y' || event.shiftKey) redo(); else undo();
  });
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.key?.toLowerCase() !== 'n') return;
    if (window.deedkeep.typing(event.target)) return;
    event.preventDefault();
    sheet.select(newRow().cells[1]);
  });

  // ---- sequence

  const afterMove = (tr) => {
    const list = sheet.rows();
    const position = list.indexOf(tr) + 1, old = Number(tr.querySelector('.number')?.textContent);
    sheet.renumber(list.map((row) => row.dataset.id));
    sheet.announce(`Moved to position ${position} of ${list.length}.`);
    enqueue(async () => {
      const state = await send(`/instruments/${tr.dataset.id}/move`, { position });
      if (state.problem) {
        show('problem', state.problem, 'Reload the page', () => location.reload());
        return;
      }
      remember(moveStep(Number(tr.dataset.id), old));
      if (queued === 1) apply(state);
    });
  };
  const moveRow = (tr, by) => {
    if (!sheet.isPlain()) {
      show('warning', 'Rows can be moved only in the runsheet sequence. Select “Back to runsheet sequence” first.');
      return;
    }
    const other = sheet.step(tr, by);
    if (!other || !isSaved(other) || !isSaved(tr)) return;
    if (by < 0) other.before(tr); else other.after(tr);
    sheet.select(sheet.active());
    afterMove(tr);
  };
  if (window.Sortable) {
    window.Sortable.create(body, {
      handle: '.row-handle', draggable: 'tr[data-id]:not(.new-row)', animation: 0,
      onEnd: (event) => { if (event.oldIndex !== event.newIndex) afterMove(event.item); },
    });
  }

  document.getElementById('runsheet-sort')?.addEventListener('submit', (event) => {
    event.preventDefault();
    perform(sequenceStep(''));
  });
  section.addEventListener('runsheet:viewed', (event) => {
    if (!unsaved.size) clearMessages(); // the Undo of a notice is for the last change
    remember(viewStep(event.detail));
  });

  // ---- trash

  const trash = (tr) => {
    if (isSaved(tr)) perform(trashStep(Number(tr.dataset.id)));
  };
  table.addEventListener('click', (event) => {
    const button = event.target.closest('button[formaction$="/trash"]');
    if (!button) return;
    event.preventDefault();
    trash(button.closest('tr'));
  });

  // ---- clipboard

  // preview shows what pasted rows would add. Its form checks them again in place, until they are added.
  const preview = async (text, column) => {
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', 'Paste rows');
    const cancelButton = document.createElement('button');
    cancelButton.type = 'button';
    cancelButton.textContent = 'Cancel';
    cancelButton.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', () => {
      dialog.remove();
      sheet.select(sheet.active());
    });
    const check = async (values) => {
      const response = await post(`${path}/instruments/paste`, values, 'text/html');
      const html = await response.text();
      if (!response.ok && response.status !== 422) throw new Error(problemOf(response.status, html));
      dialog.replaceChildren(...new DOMParser().parseFromString(html, 'text/html').body.childNodes);
      let buttons = dialog.querySelector('.form-actions');
      if (!buttons) {
        buttons = document.createElement('div');
        buttons.className = 'form-actions';
        dialog.append(buttons);
      }
      buttons.prepend(cancelButton);
    };
    const textOf = (error) => (error instanceof TypeError ? "The server isn't responding. Try again in a moment." : error.message);
    const again = async (form, button) => {
      const values = new FormData(form, button);
      const focused = document.activeElement?.name || document.activeElement?.id;
      try {
        await check(values);
      } catch (error) {
        const line = document.createElement('p');
        line.className = 'problem';
        line.setAttribute('role', 'alert');
        line.textContent = textOf(error);
        form.querySelector('[role="alert"]')?.remove();
        form.prepend(line);
        return;
      }
      const same = [...dialog.querySelectorAll('input, select, button')].find((control) => focused && control.name === focused);
      (dialog.querySelector('[aria-invalid]') ?? same ?? dialog.querySelector('button.primary') ?? cancelButton).focus();
    };
    dialog.addEventListener('submit', (event) => {
      if (event.submitter?.name === 'confirm') return;
      event.preventDefault();
      again(event.target, event.submitter);
    });
    dialog.addEventListener('change', (event) => {
      if (event.target.name?.startsWith('field.') || event.target.matches('tbody th select')) again(event.target.form);
    });
    try {
      await check({ text, column });
    } catch (error) {
      show('problem', textOf(error));
      return;
    }
    document.body.append(dialog);
    dialog.showModal();
    (dialog.querySelector('[aria-invalid]') ?? dialog.querySelector('button.primary') ?? cancelButton).focus();
  };
  document.addEventListener('paste', (event) => {
    const cell = sheet.active();
    if (!cell || document.activeElement !== cell) return;
    const text = event.clipboardData.getData('text/plain');
    if (!text.trim()) return;
    event.preventDefault();
    if (/[\t\n]/.test(text.trim())) preview(text, fields[cell.cellIndex]);
    else open(cell, text.trim());
  });
  document.addEventListener('copy', (event) => {
    const cell = sheet.active();
    if (!cell || document.activeElement !== cell || String(window.getSelection())) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', cell.innerText.trim());
  });

  // Asks before entries that aren't saved are lost.
  window.addEventListener('beforeunload', (event) => {
    if (queued || unsaved.size || editor && editor.input.value.trim() !== editor.was) event.preventDefault();
  });
})();
