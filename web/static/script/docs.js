// @ts-check
// The page /docs shows /openapi.json with Swagger UI. "Try it out" sends requests to this origin
// only, with the entered API key and without cookies. The key is stored only in its input field.

/** @type {HTMLInputElement} */
const key = document.querySelector('#key');
key.form.addEventListener('submit', (event) => event.preventDefault());

// formInputs returns the fields of a request as form inputs. Each input contains the example, or
// is empty if there is none. By default, Swagger UI would send "string".
/**
 * @param {any} content
 * @param {any} schemas
 */
const formInputs = (content, schemas) => {
  const schema = content.schema.$ref ? schemas[content.schema.$ref.split('/').pop()] : content.schema;
  const example = Object.values(content.examples || {})[0]?.value || {};
  /** @param {[string, any]} entry */
  const asInput = ([name, property]) => [
    name,
    property.type === 'array'
      ? { ...property, default: [], items: { ...property.items, default: '' } }
      : { ...property, default: String(example[name] ?? '') },
  ];
  content.schema = { ...schema, properties: Object.fromEntries(Object.entries(schema.properties).map(asInput)) };
  delete content.encoding; // with it Swagger UI would parse the text of a field as JSON
};

// filledFields returns the fields of a form that are not empty.
/** @param {FormData} body */
const filledFields = (body) => {
  const fields = new FormData();
  for (const [name, value] of body) {
    if (value !== '') fields.append(name, value);
  }
  return fields;
};

// prepare adapts the description for "Try it out". The page's policy allows requests to this
// origin only, so a public address with another host name is replaced by this origin. Examples of
// optional parameters are shown, not sent.
/** @param {any} description */
const prepare = (description) => {
  description.servers = [{ url: `${location.origin}/v1`, description: 'This server.' }];
  const { parameters, schemas } = description.components;
  /** @param {any} parameter */
  const describeExample = (parameter) => {
    if (parameter.required || parameter.example === undefined) return;
    parameter.description += ` Example: \`${parameter.example}\`.`;
    delete parameter.example;
  };
  /** @param {any} parameter */
  const resolve = (parameter) => (parameter.$ref ? parameters[parameter.$ref.split('/').pop()] : parameter);
  for (const item of Object.values(description.paths)) {
    const shared = item.parameters || [];
    delete item.parameters; // the address of an operation lists them without their names
    for (const operation of Object.values(item).filter((o) => o.responses)) {
      operation.parameters = [...shared, ...(operation.parameters || [])].map(resolve);
      operation.parameters.forEach(describeExample);
      for (const [type, content] of Object.entries(operation.requestBody?.content || {})) {
        if (/^(multipart\/form-data|application\/x-www-form-urlencoded)$/.test(type)) formInputs(content, schemas);
      }
    }
  }
  return description;
};

// docsPlugin customizes Swagger UI.
/** @param {any} options */
const docsPlugin = ({ React: { createElement: e } }) => ({
  components: {
    // Swagger UI would render a link inside a button.
    /** @param {any} options */
    DeepLink: (/** @type {any} */ { text }) => e('span', null, text),
    // The page asks for the key once, at the top.
    authorizeOperationBtn: () => /** @type {null} */ (null),
    // Swagger UI requires this component, so it is replaced instead of removed.
    JsonSchema_string_binary: () => /** @type {null} */ (null),
    /** @param {any} options */
    DocsLayout: ({ getComponent, specSelectors }) =>
      e(
        'div',
        { className: 'swagger-ui' },
        e(getComponent('SvgAssets')),
        e(
          'details',
          { className: 'docs-about' },
          e('summary', null, 'Authentication, pagination, updates, idempotency'),
          e(getComponent('Markdown', true), { source: specSelectors.info().get('description') }),
        ),
        e('h2', { className: 'docs-operations' }, 'Requests'),
        e(getComponent('operations', true)),
      ),
  },
  wrapComponents: {
    // The curl examples come from x-codeSamples, which Swagger UI ignores.
    /**
     * @param {any} Original
     * @param {any} options
     */
    responses:
      (Original, { specSelectors }) =>
      (/** @type {any} */ props) => {
        const samples = specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
        return e(
          'div',
          null,
          samples &&
            e(
              'div',
              { className: 'docs-samples' },
              samples
                .toArray()
                .map((/** @type {any} */ s, /** @type {number} */ i) =>
                  e(
                    'div',
                    { key: i },
                    e('h4', null, 'With ', s.get('label')),
                    e('pre', { tabIndex: 0 }, s.get('source')),
                  ),
                ),
            ),
          e(Original, props),
        );
      },
    // Error responses are shown in one line because they all have the same structure.
    /** @param {any} Original */
    response: (Original) => (/** @type {any} */ props) => {
      if (props.code < '400') return e(Original, props);
      const message = props.response
        .getIn(['content', 'application/json', 'examples'])
        ?.first()
        ?.getIn(['value', 'message']);
      return e(
        'tr',
        { className: 'response docs-refusal', 'data-code': props.code },
        e('td', { className: 'response-col_status' }, props.code),
        e('td', { colSpan: 2 }, props.response.get('description'), message && e('code', null, message)),
      );
    },
    // A document is downloaded instead of shown as text.
    /** @param {any} Original */
    responseBody: (Original) => (/** @type {any} */ props) => {
      const headers = { ...props.headers };
      if (headers['content-disposition'] && !/^(text|image)\/|json/.test(props.contentType)) {
        headers['content-disposition'] = headers['content-disposition'].replace(/^inline/, 'attachment');
      }
      return e(Original, { ...props, headers });
    },
    // The curl command that is shown must not contain the key.
    /** @param {any} Original */
    curl: (Original) => (/** @type {any} */ props) => {
      const { request } = props;
      const maskedRequest = request.hasIn(['headers', 'Authorization'])
        ? request.setIn(['headers', 'Authorization'], 'Bearer YOUR_KEY')
        : request;
      return e(Original, { ...props, request: maskedRequest });
    },
  },
  // JSON in a form field is typed as text, not selected as a file.
  /** @this {any} */
  afterLoad() {
    const asFile = this.fn.isFileUploadIntended;
    this.fn.isFileUploadIntended = (/** @type {any} */ schema, /** @type {string} */ type) =>
      (schema?.get ? schema.get('contentMediaType') : schema?.contentMediaType) !== 'application/json' &&
      asFile(schema, type);
  },
});

// addLabels adds labels for screen readers that Swagger UI omits.
/** @param {HTMLElement} root */
const addLabels = (root) => {
  /**
   * @param {string} selector
   * @param {(node: any) => string} label
   */
  const setLabel = (selector, label) =>
    root.querySelectorAll(selector).forEach((/** @type {any} */ node) => {
      if (!node.labels?.length && !node.ariaLabel) node.ariaLabel = label(node);
    });
  setLabel('select.examples-select-element', () => 'Example');
  setLabel('select', () => 'Choice');
  setLabel(
    'input, textarea',
    (node) =>
      node.closest('[data-property-name], [data-param-name]')?.dataset.propertyName ||
      node.closest('[data-param-name]')?.dataset.paramName ||
      node.placeholder ||
      'Content',
  );
  root.querySelectorAll('.json-schema-form-item-add').forEach((node) => {
    if (node.textContent !== 'Add file') node.textContent = 'Add file';
  });
  setLabel('.json-schema-form-item-remove', () => 'Remove file');
  root.querySelectorAll('img:not([alt])').forEach((node) => {
    node.alt = 'Response';
  });
  setLabel('[role=region]', (node) => `Responses for ${node.closest('.opblock')?.id.replace('operations-', '')}`);
  root.querySelectorAll('pre:not([tabindex]), .microlight:not([tabindex])').forEach((node) => {
    node.tabIndex = 0;
  });
};

const show = async () => {
  const response = await fetch('/openapi.json', { credentials: 'omit' });
  if (!response.ok) throw new Error(`openapi.json: ${response.status}`);
  const root = document.querySelector('#docs');
  new MutationObserver(() => addLabels(root)).observe(root, { childList: true, subtree: true });
  SwaggerUIBundle({
    spec: prepare(await response.json()),
    domNode: root,
    layout: 'DocsLayout',
    deepLinking: true,
    docExpansion: 'list',
    validatorUrl: null,
    persistAuthorization: false,
    queryConfigEnabled: false,
    tryItOutEnabled: true,
    syntaxHighlight: false,
    displayRequestDuration: true,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [docsPlugin],
    /** @param {any} request */
    requestInterceptor: (request) => {
      request.credentials = 'omit';
      if (/\/download$/.test(request.url)) request.curlOptions = ['-L', '-O', '-J']; // by default curl follows no redirect and writes to the terminal
      if (request.body instanceof FormData) request.body = filledFields(request.body);
      if (key.value.trim()) request.headers.Authorization = `Bearer ${key.value.trim()}`;
      return request;
    },
  });
};

show().catch((problem) => {
  const p = document.createElement('p');
  p.className = 'problem';
  p.setAttribute('role', 'alert');
  p.textContent = `The API description couldn't be loaded. Reload the page. (${problem.message})`;
  document.querySelector('#docs').replaceChildren(p);
});
