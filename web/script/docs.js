// The page /docs: Swagger UI over /openapi.json. What is tried goes to this origin alone,
// with the key that was typed and nothing else that would let somebody in: no cookies.
// The key is in the field where it was typed, and nowhere else.
(() => {
  "use strict";

  const key = document.querySelector("#key");
  key.form.addEventListener("submit", event => event.preventDefault());

  // Where the public address is another name of this server, the policy of the page keeps
  // it from asking there: it asks here.
  const here = description => {
    description.servers = [{ url: location.origin + "/v1", description: "This installation." }];
    return description;
  };

  // house is what differs from the viewer as it comes.
  const house = ({ React: { createElement: e } }) => ({
    components: {
      // As it comes it is a link inside a button.
      DeepLink: ({ text }) => e("span", null, text),
      // The key is asked for once, in the head of the page.
      authorizeOperationBtn: () => null,
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
      // What is shown to be copied and passed on holds no key.
      curl: Original => props => {
        const { request } = props;
        const hidden = request.hasIn(["headers", "Authorization"]) ? request.setIn(["headers", "Authorization"], "Bearer YOUR_KEY") : request;
        return e(Original, { ...props, request: hidden });
      },
    },
    // A text that holds JSON is typed, not chosen as a file.
    afterLoad() {
      const given = this.fn.isFileUploadIntended;
      this.fn.isFileUploadIntended = (schema, type) =>
        (schema?.get ? schema.get("contentMediaType") : schema?.contentMediaType) !== "application/json" && given(schema, type);
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
    root.querySelectorAll("pre:not([tabindex]), .microlight:not([tabindex])").forEach(node => { node.tabIndex = 0; });
  };

  const show = async () => {
    const answer = await fetch("/openapi.json", { credentials: "omit" });
    if (!answer.ok) throw new Error(`openapi.json: ${answer.status}`);
    const root = document.querySelector("#docs");
    new MutationObserver(() => mend(root)).observe(root, { childList: true, subtree: true });
    SwaggerUIBundle({
      spec: here(await answer.json()),
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
