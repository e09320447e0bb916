package api_test

import (
	"testing"

	"deedkeep/app/model"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withAllFieldTypes)
	srv.do(t, call{as: "read", method: "GET", path: "/v1/abstract-templates", status: 200,
		want: `{"templates":[{"id":1,"name":"All kinds","default":true,"custom_fields":[` +
			`{"key":"a_text","label":"A text","type":"text","required":false,"options":[]},` +
			`{"key":"a_paragraph","label":"A paragraph","type":"paragraph","required":false,"options":[]},` +
			`{"key":"a_date","label":"A date","type":"date","required":false,"options":[]},` +
			`{"key":"a_dropdown","label":"A dropdown","type":"dropdown","required":false,"options":["One","Two","7"]},` +
			`{"key":"a_multiselect","label":"A multiselect","type":"multiselect","required":false,"options":["One","Two","7"]},` +
			`{"key":"a_number","label":"A number","type":"number","required":false,"options":[]},` +
			`{"key":"a_checkbox","label":"A checkbox","type":"checkbox","required":false,"options":[]},` +
			`{"key":"a_money","label":"A money","type":"money","required":false,"options":[]},` +
			`{"key":"a_email","label":"A email","type":"email","required":false,"options":[]},` +
			`{"key":"a_phone","label":"A phone","type":"phone","required":false,"options":[]},` +
			`{"key":"a_url","label":"A url","type":"url","required":false,"options":[]},` +
			`{"key":"must","label":"Must","type":"text","required":true,"options":[]}]},` +
			`{"id":3,"name":"Bare","default":false,"custom_fields":[]}]}`})
}

func TestTemplatesNone(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.workspace.Templates = nil })
	srv.do(t, call{as: "read", method: "GET", path: "/v1/abstract-templates", status: 200, want: `{"templates":[]}`})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: "custom_fields=%7B%22a%22:1%7D",
		status: 201,
		has:    []string{`"template_id":null,"status":null,`, `"custom_fields":{}`}})
}

// Custom field values are validated and normalized according to the type of the field.
func TestCustomFields(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withAllFieldTypes)
	rejected := func(key, sentence string) string { return invalidField("custom_fields.a_"+key, sentence) }
	for _, c := range []struct{ name, sent, stored, rejection string }{
		{"text trimmed", `{"a_text":" x "}`, `{"a_text":"x"}`, ""},
		{"number for a text", `{"a_text":-1.50e1}`, `{"a_text":"-1.50e1"}`, ""},
		{"number for a paragraph", `{"a_paragraph":0.10}`, `{"a_paragraph":"0.10"}`, ""},
		{"number for a dropdown", `{"a_dropdown":7}`, `{"a_dropdown":"7"}`, ""},
		{"number for a date", `{"a_date":20260102}`, "", rejected("date", "The a date field must match the format Y-m-d.")},
		{"paragraph as sent", `{"a_paragraph":"  x\n"}`, `{"a_paragraph":"  x\n"}`, ""},
		{"object for a text", `{"a_text":{}}`, "", rejected("text", "The a text field must be a string.")},
		{"array for a text", `{"a_text":["x"]}`, "", rejected("text", "The a text field must be a string.")},
		{"true for a text", `{"a_text":true}`, "", rejected("text", "The a text field must be a string.")},
		{"date", `{"a_date":" 2026-06-15 "}`, `{"a_date":"2026-06-15"}`, ""},
		{"invalid date", `{"a_date":"2026-02-30"}`, "", rejected("date", "The a date field must match the format Y-m-d.")},
		{"option in another case", `{"a_dropdown":"one"}`, "", rejected("dropdown", "The selected a dropdown is invalid.")},
		{"multiselect", `{"a_multiselect":["Two","One","Two"]}`, `{"a_multiselect":["Two","One"]}`, ""},
		{"one string for a multiselect", `{"a_multiselect":"One"}`, `{"a_multiselect":["One"]}`, ""},
		{"outside the options of a multiselect", `{"a_multiselect":["One","Six"]}`, "",
			rejected("multiselect", "The selected a multiselect is invalid.")},
		{"object for a multiselect", `{"a_multiselect":{"0":"One"}}`, "", rejected("multiselect", "The a multiselect field must be an array.")},
		{"number kept as sent", `{"a_number":1.50}`, `{"a_number":1.50}`, ""},
		{"string of a number", `{"a_number":"1.50"}`, `{"a_number":"1.50"}`, ""},
		{"invalid number", `{"a_number":"1,5"}`, "", rejected("number", "The a number field must be a number.")},
		{"checkbox", `{"a_checkbox":false}`, `{"a_checkbox":false}`, ""},
		{"string for a checkbox", `{"a_checkbox":"true"}`, "", rejected("checkbox", "The a checkbox field must be true or false.")},
		{"number for a checkbox", `{"a_checkbox":1}`, "", rejected("checkbox", "The a checkbox field must be true or false.")},
		{"money", `{"a_money":"$1,234.5"}`, `{"a_money":"1234.50"}`, ""},
		{"number for money", `{"a_money":1234.5}`, `{"a_money":"1234.50"}`, ""},
		{"invalid money", `{"a_money":"12,34"}`, "", rejected("money", "The a money field must be an amount of money.")},
		{"too much money", `{"a_money":99999999999999}`, "", rejected("money", "The a money field must not be greater than 9999999999999.99.")},
		{"email", `{"a_email":" ann@example.com "}`, `{"a_email":"ann@example.com"}`, ""},
		{"invalid email", `{"a_email":"ann"}`, "", rejected("email", "The a email field must be a valid email address.")},
		{"phone", `{"a_phone":"(985)  555-0142 x7"}`, `{"a_phone":"(985) 555-0142 x7"}`, ""},
		{"invalid phone", `{"a_phone":"555"}`, "", rejected("phone", "The a phone field must be a valid phone number.")},
		{"url", `{"a_url":"https://example.com/?a=<b>&c"}`, `{"a_url":"https://example.com/?a=<b>&c"}`, ""},
		{"invalid url", `{"a_url":"ftp://example.com"}`, "", rejected("url", "The a url field must be a valid URL.")},
		{"blank values of text types", `{"a_money":"","a_email":null,"a_phone":" ","a_url":[]}`, `{}`, ""},
		{"blank values", `{"a_text":"","a_dropdown":null,"a_multiselect":[ ],"a_date":" ","a_number":null,"a_checkbox":[]}`, `{}`, ""},
		{"unknown keys", `{"zzz":{},"A_TEXT":"x"}`, `{}`, ""},
		{"required and missing", `{"must":""}`, `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := orderCall(`{"order_number":"T","custom_fields":`+c.sent+`}`, 201, c.rejection)
			if c.rejection != "" {
				r.status = 422
			} else {
				r.has = []string{`"custom_fields":` + c.stored + `,`}
			}
			srv.do(t, r)
		})
	}
	for _, empty := range []string{`null`, `{}`, `[]`, `""`, `[ ]`} {
		r := orderCall(`{"order_number":"T","custom_fields":`+empty+`}`, 201, "")
		r.has = []string{`"custom_fields":{},`}
		srv.do(t, r)
	}
}

func TestCustomFieldsRequired(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withAllFieldTypes, func(cfg *testConfig) { cfg.vault.Settings.Rules = model.Rules{EnforceRequired: true} })
	want := invalidField("custom_fields.must", "The must field is required.")
	srv.do(t, orderCall(`{"order_number":"T"}`, 422, want))
	srv.do(t, orderCall(`{"order_number":"T","custom_fields":{"must":""}}`, 422, want))
	srv.do(t, orderCall(`{"order_number":"T","custom_fields":{"must":"x"}}`, 201, ""))
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", status: 422, want: want})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts", header: []string{asURL}, body: "template_id=3", status: 201})
}
