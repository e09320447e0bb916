package api_test

import (
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/vaulttest"
)

// Each operation in the API description that requires a key is tested with each type of
// credential. The test fails if it doesn't cover an operation.
func TestMatrix(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.api.FailingKeys, cfg.vault.OCRReader = 0, new(vaulttest.FakeOCR) })
	// Each operation that deletes a record gets a record that other operations don't need.
	srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(1))))
	withFile := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, abstractCall(201, "", filePart("files", "c.pdf", pdf(1))))).Data.ID
	deletedAbstract := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, abstractCall(201, ""))).Data.ID
	orderID := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, ""))).Data.ID
	deletedOrder := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, ""))).Data.ID
	titled := srv.createID(t, abstractCall(201, ""))
	for range 2 {
		srv.do(t, jsonCall("POST", "/abstracts/"+withFile+"/instruments", `{}`, 201))
		srv.do(t, jsonCall("POST", "/abstracts/"+withFile+"/notes", `{"text":"x"}`, 201))
	}
	srv.do(t, jsonCall("POST", "/abstracts/"+titled+"/certificate", `{"effective_date":"2026-05-01"}`, 201))
	for range 2 {
		srv.do(t, jsonCall("POST", "/views", `{"name":"x","record":"orders","shared":true}`, 201))
	}
	srv.waitForIndex(t)
	srv.vault.Events.EndFollowing() // otherwise, a stream wouldn't end
	vaulttest.ReadPages(t, srv.vault, 1)
	openUpload := srv.beginUpload(t, "full", 20, uploadMetadata("filename", "a.pdf"))[len("/v1"):]
	canceledUpload := srv.beginUpload(t, "full", 20, uploadMetadata("filename", "a.pdf"))[len("/v1"):]
	requests := map[string]call{
		"GET /abstracts":                     {status: 200},
		"PATCH /abstracts/{id}":              {status: 200, header: []string{asJSON}, body: `{"city":"Salem"}`},
		"DELETE /abstracts/{id}":             {status: 204, path: "/abstracts/" + deletedAbstract},
		"POST /abstracts/{id}/restore":       {status: 200},
		"DELETE /abstracts/{id}/files/{n}":   {status: 204, path: "/abstracts/" + withFile + "/files/3"},
		"POST /abstracts/bulk":               {status: 200, header: []string{asJSON}, body: `{"ids":["` + titled + `"],"set":{"city":"Salem"}}`},
		"POST /orders/bulk":                  {status: 200, header: []string{asJSON}, body: `{"ids":["` + orderID + `"],"set":{"city":"Salem"}}`},
		"POST /file-vault/files/bulk":        {status: 200, header: []string{asJSON}, body: `{"ids":[1],"set":{"filename":"m.pdf"}}`},
		"POST /instruments/bulk":             {status: 200, header: []string{asJSON}, body: `{"ids":[1],"set":{"book":"9"}}`},
		"GET /orders":                        {status: 200},
		"GET /orders/{id}":                   {status: 200, path: "/orders/" + orderID},
		"PATCH /orders/{id}":                 {status: 200, path: "/orders/" + orderID, header: []string{asJSON}, body: `{"city":"Salem"}`},
		"DELETE /orders/{id}":                {status: 204, path: "/orders/" + deletedOrder},
		"POST /orders/{id}/restore":          {status: 200, path: "/orders/" + orderID + "/restore"},
		"GET /file-vault/files":              {status: 200},
		"PATCH /file-vault/files/{n}":        {status: 200, header: []string{asJSON}, body: `{"folder_id":1}`},
		"DELETE /file-vault/files/{n}":       {status: 204, path: "/file-vault/files/2"},
		"POST /file-vault/files/{n}/restore": {status: 200},
		"GET /file-vault/folders/{n}":        {status: 200},
		"PATCH /file-vault/folders/{n}":      {status: 200, header: []string{asJSON}, body: `{"name":"Post room"}`},
		"DELETE /file-vault/folders/{n}":     {status: 204, path: "/file-vault/folders/4"},
		"GET /search":                        {status: 200, path: "/search?q=T-1"},
		"GET /trash":                         {status: 200},
		"POST /uploads":                      {status: 201, header: []string{tus, uploadLength(20), uploadMetadata("filename", "a.pdf")}},
		"GET /uploads/{id}":                  {status: 200, path: openUpload},
		"HEAD /uploads/{id}":                 {status: 200, path: openUpload, header: []string{tus}},
		"PATCH /uploads/{id}": {status: 204, path: openUpload,
			header: []string{tus, asChunk, uploadOffset(0), "Content-Length: 0"}},
		"DELETE /uploads/{id}":               {status: 204, path: canceledUpload, header: []string{tus}},
		"GET /events":                        {status: 200},
		"GET /events/stream":                 {status: 200, media: "text/event-stream"},
		"GET /abstract-templates":            {status: 200},
		"GET /abstract-templates/{n}":        {status: 200},
		"GET /order-statuses":                {status: 200},
		"POST /abstracts":                    {status: 201},
		"GET /abstracts/{id}":                {status: 200},
		"POST /abstracts/{id}/files":         {status: 201, header: []string{asForm}, body: formBody(filePart("files[]", "b.pdf", pdf(1)))},
		"GET /order-fields":                  {status: 200},
		"POST /orders":                       {status: 201, header: []string{asJSON}, body: `{"order_number":"T-1"}`},
		"GET /file-vault/folders":            {status: 200},
		"POST /file-vault/folders":           {status: 201, header: []string{asJSON}, body: `{"name":"Deeds"}`},
		"POST /file-vault/upload":            {status: 201, header: []string{asForm}, body: formBody(filePart("files", "c.pdf", pdf(2)))},
		"GET /file-vault/files/{n}":          {status: 200},
		"GET /file-vault/files/{n}/download": {status: 302},

		"GET /abstracts/{id}/instruments":  {status: 200},
		"POST /abstracts/{id}/instruments": {status: 201, header: []string{asJSON}, body: `{"book":"1"}`},
		"PUT /abstracts/{id}/instruments/sequence": {status: 200, path: "/abstracts/" + titled + "/instruments/sequence",
			header: []string{asJSON}, body: `{"instruments":[]}`},
		"GET /abstracts/{id}/runsheet":      {status: 200},
		"GET /abstracts/{id}/runsheet.csv":  {status: 200, media: "text/csv; charset=utf-8"},
		"GET /abstracts/{id}/runsheet.xlsx": {status: 200, media: mediaExcel},
		"GET /abstracts/{id}/order":         {status: 200},
		"PUT /abstracts/{id}/order":         {status: 200, header: []string{asJSON}, body: `{"order_id":null}`},
		"DELETE /abstracts/{id}/order":      {status: 204},
		"GET /abstracts/{id}/assignment":    {status: 200},
		"PUT /abstracts/{id}/assignment":    {status: 200, header: []string{asJSON}, body: `{"due_date":"2026-12-01"}`},
		"GET /orders/{id}/assignment":       {status: 200, path: "/orders/" + orderID + "/assignment"},
		"PUT /orders/{id}/assignment": {status: 200, path: "/orders/" + orderID + "/assignment", header: []string{asJSON},
			body: `{"assignee":null}`},
		"GET /abstracts/{id}/names-run":    {status: 200},
		"PUT /abstracts/{id}/names-run":    {status: 200, header: []string{asJSON}, body: `{"rows":[{"name":"Jones, Bea"}]}`},
		"GET /abstracts/{id}/requirements": {status: 200},
		"PUT /abstracts/{id}/requirements": {status: 200, header: []string{asJSON}, body: `{"rows":[]}`},
		"GET /abstracts/{id}/checks":       {status: 200},
		"GET /abstracts/{id}/notes":        {status: 200},
		"POST /abstracts/{id}/notes":       {status: 201, header: []string{asJSON}, body: `{"text":"See page 2."}`},
		"GET /orders/{id}/abstracts":       {status: 200, path: "/orders/" + orderID + "/abstracts"},
		"GET /orders/{id}/notes":           {status: 200, path: "/orders/" + orderID + "/notes"},
		"POST /orders/{id}/notes": {status: 201, path: "/orders/" + orderID + "/notes", header: []string{asJSON},
			body: `{"text":"x"}`},
		"GET /file-vault/files/{n}/notes":  {status: 200},
		"POST /file-vault/files/{n}/notes": {status: 201, header: []string{asJSON}, body: `{"text":"x"}`},
		"PATCH /notes/{n}":                 {status: 200, header: []string{asJSON}, body: `{"text":"y"}`},
		"DELETE /notes/{n}":                {status: 204, path: "/notes/2"},
		"POST /notes/{n}/restore":          {status: 200},
		"GET /abstracts/{id}/certificate":  {status: 200},
		"POST /abstracts/{id}/certificate": {status: 201, header: []string{asJSON}, body: `{"effective_date":"2026-05-01"}`},
		"POST /abstracts/{id}/certificate/{n}/void": {status: 200, path: "/abstracts/" + titled + "/certificate/1/void",
			header: []string{asJSON}, body: `{"reason":"Wrong date"}`},
		"POST /abstracts/{id}/bring-down": {status: 201},
		"POST /abstracts/{id}/runsheet": {status: 200, header: []string{asForm},
			body: formBody(filePart("file", "r.csv", "type,book\nMortgage,1\n"))},
		"GET /file-vault/files/{n}/suggestions":    {status: 200},
		"GET /file-vault/files/{n}/text":           {status: 200},
		"POST /file-vault/files/pages":             {status: 202, header: []string{asJSON}, body: `{"name":"Split","parts":[{"file_id":1}]}`},
		"GET /file-vault/files/{n}/origin":         {status: 200},
		"GET /file-vault/files/{n}/searchable.pdf": {status: 200, media: "application/pdf"},
		"GET /document-types":                      {status: 200},
		"GET /phrases":                             {status: 200},
		"PUT /phrases":                             {status: 200, header: []string{asJSON}, body: `{"rows":[]}`},
		"GET /instruments":                         {status: 200},
		"GET /abstracts.csv":                       {status: 200, media: "text/csv; charset=utf-8"},
		"GET /abstracts.xlsx":                      {status: 200, media: mediaExcel},
		"GET /orders.csv":                          {status: 200, media: "text/csv; charset=utf-8"},
		"GET /orders.xlsx":                         {status: 200, media: mediaExcel},
		"GET /instruments.csv":                     {status: 200, media: "text/csv; charset=utf-8"},
		"GET /instruments.xlsx":                    {status: 200, media: mediaExcel},
		"GET /views":                               {status: 200},
		"POST /views":                              {status: 201, header: []string{asJSON}, body: `{"name":"x","record":"orders"}`},
		"GET /views/{n}":                           {status: 200},
		"PATCH /views/{n}":                         {status: 200, header: []string{asJSON}, body: `{"name":"y"}`},
		"DELETE /views/{n}":                        {status: 204, path: "/views/2"},
		"GET /instruments/{n}":                     {status: 200},
		"PATCH /instruments/{n}":                   {status: 200, header: []string{asJSON}, body: `{"book":"2"}`},
		"DELETE /instruments/{n}":                  {status: 204, path: "/instruments/2"},
		"POST /instruments/{n}/restore":            {status: 200},
	}
	for path, item := range loadDescription(t).Paths.Map() {
		if len(item.Servers) > 0 {
			continue // the path isn't under /v1
		}
		for method, operation := range item.Operations() {
			if operation.Security != nil && len(*operation.Security) == 0 {
				continue // the operation doesn't require a key
			}
			r, ok := requests[method+" "+path]
			if !ok {
				t.Errorf("%s %s is missing in the matrix", method, path)
				continue
			}
			delete(requests, method+" "+path)
			if r.path == "" {
				r.path = strings.NewReplacer("{id}", withFile, "{n}", "1").Replace(path)
			}
			r.method, r.path = method, "/v1"+r.path
			srv.checkCredentials(t, r)
			if method == http.MethodGet {
				r.method = http.MethodHead
				srv.checkCredentials(t, r)
			}
		}
	}
	for missing := range requests {
		t.Errorf("openapi.yaml lacks %s", missing)
	}
}

const (
	unauthenticated = `{"message":"Unauthenticated."}`
	forbidden       = `{"message":"This API key is not authorized for the Developer API."}`
)

// checkCredentials sends r with each type of credential and checks the response. The
// full-access key comes last.
func (srv *testServer) checkCredentials(t *testing.T, r call) {
	reads := r.method == http.MethodGet || r.method == http.MethodHead
	isUpload := strings.HasPrefix(r.path, "/v1/uploads/")
	success, isLog, media := r.status, strings.HasPrefix(r.path, "/v1/events"), r.media
	for _, as := range []string{"", "bad", "expired", "revoked", "events", "metrics", "read", "full"} {
		r.name, r.as, r.want, r.headers = r.method+" "+r.path+" as "+as, as, "", nil
		switch {
		case !isLog && (as == "full" || as == "read" && reads && !isUpload), isLog && as == "events":
			r.status = success
		case as == "read" && reads && isUpload: // the upload belongs to another key
			r.status = http.StatusNotFound
		case as == "read" || as == "events" || as == "metrics" || as == "full":
			r.status, r.want, r.headers = 403, forbidden, map[string]string{"Www-Authenticate": insufficientScope(r)}
		default:
			r.status, r.want, r.headers = 401, unauthenticated, map[string]string{"Www-Authenticate": "Bearer"}
		}
		if r.media = ""; r.status == success {
			r.media = media
		}
		if r.method == http.MethodHead {
			r.want = ""
		}
		t.Run(r.name, func(t *testing.T) { srv.do(t, r) })
	}
}

// insufficientScope returns the header of the response to a key that may not send r. It names the
// ability that the key lacks, and the one with the fewest permissions if there are several.
func insufficientScope(r call) string {
	ability := "api:v1"
	switch {
	case strings.HasPrefix(r.path, "/v1/events"):
		ability = "events"
	case r.method == http.MethodGet, r.method == http.MethodHead:
		ability = "api:v1:read"
	}
	return `Bearer error="insufficient_scope", scope="` + ability + `"`
}

// Requests to unknown routes require a key too.
func TestMatrixOfUnknownRoutes(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, target := range []struct{ method, path string }{{"GET", "/v1/nowhere"}, {"DELETE", "/v1/orders"}, {"GET", "/v1"},
		{"PUT", "/v1/abstracts/x"}, {"GET", "/v1/abstracts/../orders"}} {
		t.Run(target.method+" "+target.path, func(t *testing.T) {
			for as, status := range map[string]int{"": 401, "bad": 401, "revoked": 401, "expired": 401, "events": 403, "metrics": 403} {
				srv.do(t, call{as: as, method: target.method, path: target.path, status: status})
			}
		})
	}
	srv.do(t, call{as: "read", method: "DELETE", path: "/v1/orders", status: 403})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/nowhere", status: 404, want: messageBody("Not found.")})
}
