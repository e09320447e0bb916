// On the form of an instrument, the labels of the parties follow the document type: Grantor and
// Grantee, Mortgagor and Mortgagee.
(() => {
  'use strict';

  const type = document.getElementById('type_id');
  const update = () => {
    const option = type.selectedOptions[0];
    document.querySelector('label[for="grantors"]').textContent = option?.dataset.grantor || 'Grantor';
    document.querySelector('label[for="grantees"]').textContent = option?.dataset.grantee || 'Grantee';
  };
  type?.addEventListener('change', update);
})();
