// @ts-check
// Shows and hides typed passwords, selects the browser's time zone, and counts down the time until the next sign-in attempt.

for (const input of document.querySelectorAll('input[data-reveal]')) {
  const label = document.createElement('label');
  const checkbox = document.createElement('input');
  label.className = 'check';
  checkbox.type = 'checkbox';
  label.append(checkbox, ' Show password');
  checkbox.addEventListener('change', () => {
    /** @type {NodeListOf<HTMLInputElement>} */
    const passwords = input.form.querySelectorAll('input[data-reveal], input[data-reveal-with]');
    for (const passwordInput of passwords) {
      passwordInput.type = checkbox.checked ? 'text' : 'password';
    }
  });
  // Restores type="password" before submitting, so that browsers offer to save the password.
  input.form.addEventListener('submit', () => {
    checkbox.checked = false;
    checkbox.dispatchEvent(new Event('change'));
  });
  input.closest('.field').after(label);
}

for (const select of document.querySelectorAll('select[data-browser-zone]')) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone) continue;
  if (![...select.options].some((option) => option.value === zone)) select.add(new Option(zone, zone));
  select.value = zone;
}

for (const button of document.querySelectorAll('button[data-wait]')) {
  const originalText = button.textContent;
  const endTime = Date.now() + Number(button.dataset.wait) * 1000;
  button.disabled = true;
  const tick = () => {
    const secondsLeft = Math.ceil((endTime - Date.now()) / 1000);
    if (secondsLeft > 0) {
      const remaining =
        secondsLeft > 90
          ? `${Math.floor(secondsLeft / 60)}:${String(secondsLeft % 60).padStart(2, '0')}`
          : `${secondsLeft} s`;
      button.textContent = `${originalText} (in ${remaining})`;
      setTimeout(tick, 250);
      return;
    }
    button.disabled = false;
    button.textContent = originalText;
    const problem = button.form.querySelector('.problem');
    if (problem) problem.textContent = 'You can try again now.';
  };
  tick();
}
