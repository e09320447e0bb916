// The page /docs: Swagger UI over /openapi.json. What is tried goes to this origin alone,
// with the key that was typed and nothing else that would let somebody in: no cookies.
// The key is in the field where it was typed, and nowhere else.
(() => {
  "use strict";

  const key = document.querySelector("#key");
  key.form.addEventListener("submit", event => event.preventDefault());

  // form is what a request takes as fields, filled in as its example is and else left empty:
  // as it comes, the viewer would send "string".
  const form = (content, schemas) => {
    const schema = schemas[content.schema.$ref.split("/").pop()];
    const example = Object.values(content.examples || {})[0]?.value || {};
    const filled = ([name, is]) => [name, is.type === "array"
      ? { ...is, default: [], items: { ...is.items, default: "" } }
      : { ...is, default: String(example[name] ?? "") }];
    content.schema = { ...schema, properties: Object.fromEntries(Object.entries(schema.properties).map(filled)) };
    delete content.encoding; // it would have the viewer read the text of a field as JSON
  };

  // given are the fields of a form without those that were left empty.
  const given = body => {
    const fields = new FormData();
    for (const [name, value] of body) {
      if (value !== "") fields.append(name, value);
    }
    return fields;
  };

  // prepare makes a description one that is tried. Where the public address is another name
  // of this server, the policy of the page keeps it from asking there: it asks here. Examples
  // of what may be left out are told, not sent.
  const prepare = description => {
    description.servers = [{ url: location.origin + "/v1", description: "This installation." }];
    const { parameters, schemas } = description.components;
    const tell = parameter => {
      if (parameter.required || parameter.example === undefined) return;
      parameter.description += ` For example \`${parameter.example}\`.`;
      delete parameter.example;
    };
    const resolve = parameter => parameter.$ref ? parameters[parameter.$ref.split("/").pop()] : parameter;
    for (const item of Object.values(description.paths)) {
      const shared = item.parameters || [];
      delete item.parameters; // an address that opens an operation shows those without their names
      for (const operation of Object.values(item).filter(o => o.responses)) {
        operation.parameters = [...shared, ...operation.parameters || []].map(resolve);
        operation.parameters.forEach(tell);
        for (const [type, content] of Object.entries(operation.requestBody?.content || {})) {
          if (/^(multipart\/form-data|application\/x-www-form-urlencoded)$/.test(type)) form(content, schemas);
        }
      }
    }
    return description;
  };

  // house is what differs from the viewer as it comes.
  const house = ({ React: { createElement: e } }) => ({
    components: {
      // As it comes it is a link inside a button.
      DeepLink: ({ text }) => e("span", null, text),
      // The key is asked for once, in the head of the page.
      authorizeOperationBtn: () => null,
      // It is looked for, and another is shown.
      JsonSchema_string_binary: () => null,
      HouseLayout: ({ getComponent, specSelectors }) =>
        e("div", { className: "swagger-ui" },
          e(getComponent("SvgAssets")),
          e("details", { className: "docs-about" },
            e("summary", null, "Keys, lists, changes and trying again: how all of it works"),
            e(getComponent("Markdown", true), { source: specSelectors.info().get("description") })),
          e("h2", { className: "docs-operations" }, "Requests"),
          e(getComponent("operations", true))),
    },
    wrapComponents: {
      // The examples in curl come out of x-codeSamples, which the viewer does not show.
      responses: (Original, { specSelectors }) => props => {
        const samples = specSelectors.specJson().getIn(["paths", props.path, props.method, "x-codeSamples"]);
        return e("div", null,
          samples && e("div", { className: "docs-samples" },
            samples.toArray().map((s, i) => e("div", { key: i },
              e("h4", null, "With ", s.get("label")),
              e("pre", { tabIndex: 0 }, s.get("source"))))),
          e(Original, props));
      },
      // A refusal is a line: all have the same form.
      response: Original => props => {
        if (props.code < "400") return e(Original, props);
        const said = props.response.getIn(["content", "application/json", "examples"])?.first()?.getIn(["value", "message"]);
        return e("tr", { className: "response docs-refusal", "data-code": props.code },
          e("td", { className: "response-col_status" }, props.code),
          e("td", { colSpan: 2 }, props.response.get("description"), said && e("code", null, said)));
      },
      // A document is saved, not shown letter by letter.
      responseBody: Original => props => {
        const headers = { ...props.headers };
        if (headers["content-disposition"] && !/^(text|image)\/|json/.test(props.contentType)) {
          headers["content-disposition"] = headers["content-disposition"].replace(/^inline/, "attachment");
        }
        return e(Original, { ...props, headers });
      },
      // What is shown to be copied and passed on holds no key.
      curl: Original => props => {
        const { request } = props;
        const hidden = request.hasIn(["headers", "Authorization"]) ? request.setIn(["headers", "Authorization"], "Bearer YOUR_KEY") : request;
        return e(Original, { ...props, request: hidden });
      },
    },
    // A text that holds JSON is typed, not chosen as a file.
    afterLoad() {
      const asFile = this.fn.isFileUploadIntended;
      this.fn.isFileUploadIntended = (schema, type) =>
        (schema?.get ? schema.get("contentMediaType") : schema?.contentMediaType) !== "application/json" && asFile(schema, type);
    },
  });

  // mend names what the viewer leaves without a name, for whoever does not see it.
  const mend = root => {
    const name = (selector, say) => root.querySelectorAll(selector).forEach(node => {
      if (!node.labels?.length && !node.ariaLabel) node.ariaLabel = say(node);
    });
    name("select.examples-select-element", () => "Example");
    name("select", () => "Choice");
    name("input, textarea", node => node.closest("[data-property-name], [data-param-name]")?.dataset.propertyName || node.closest("[data-param-name]")?.dataset.paramName || node.placeholder || "Content");
    root.querySelectorAll(".json-schema-form-item-add").forEach(node => {
      if (node.textContent !== "Add a file") node.textContent = "Add a file";
    });
    name(".json-schema-form-item-remove", () => "Remove this file");
    root.querySelectorAll("img:not([alt])").forEach(node => { node.alt = "What was answered"; });
    name("[role=region]", node => `Answers of ${node.closest(".opblock")?.id.replace("operations-", "")}`);
    root.querySelectorAll("pre:not([tabindex]), .microlight:not([tabindex])").forEach(node => { node.tabIndex = 0; });
  };

  const show = async () => {
    const answer = await fetch("/openapi.json", { credentials: "omit" });
    if (!answer.ok) throw new Error(`openapi.json: ${answer.status}`);
    const root = document.querySelector("#docs");
    new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
    SwaggerUIBundle({
      spec: prepare(await answer.json()),
      domNode: root,
      layout: "HouseLayout",
      deepLinking: true,
      docExpansion: "list",
      validatorUrl: null,
      persistAuthorization: false,
      queryConfigEnabled: false,
      tryItOutEnabled: true,
      syntaxHighlight: false,
      displayRequestDuration: true,
      presets: [SwaggerUIBundle.presets.apis],
      plugins: [house],
      requestInterceptor: request => {
        request.credentials = "omit";
        if (/\/download$/.test(request.url)) request.curlOptions = ["-L", "-O", "-J"]; // by itself curl follows nothing, and saves nothing
        if (request.body instanceof FormData) request.body = given(request.body);
        if (key.value.trim()) request.headers.Authorization = `Bearer ${key.value.trim()}`;
        return request;
      },
    });
  };

  show().catch(problem => {
    const p = document.createElement("p");
    p.className = "problem";
    p.setAttribute("role", "alert");
    p.textContent = `The description could not be read. ${problem.message}`;
    document.querySelector("#docs").replaceChildren(p);
  });
})();
