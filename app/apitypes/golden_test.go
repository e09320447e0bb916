package apitypes_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

var (
	created = apitypes.At(time.Date(2026, 5, 29, 4, 0, 0, 0, time.UTC))
	updated = apitypes.At(time.Date(2026, 5, 28, 22, 0, 1, 123456789, time.FixedZone("CST", -6*3600)))
)

func ptr[T any](v T) *T { return &v }

func deed() apitypes.File {
	return apitypes.File{
		ID: 77, Filename: "Deed & Plat.pdf", FileType: "pdf", MimeType: "application/pdf", PageCount: ptr(12),
		FileSize: 248115, FileSizeHuman: apitypes.HumanSize(248115), FolderID: ptr(int64(3)), IsProcessing: true,
		DownloadURL: "https://vault.example/v1/file-vault/files/77/download", CreatedAt: created,
	}
}

const deedJSON = `{"id":77,"filename":"Deed & Plat.pdf","file_type":"pdf","mime_type":"application/pdf","page_count":12,` +
	`"file_size":248115,"file_size_human":"242.3 KB","folder_id":3,"is_processing":true,` +
	`"download_url":"https://vault.example/v1/file-vault/files/77/download","created_at":"2026-05-29T04:00:00.000000Z"}`

const keyJSON = `{"id":4,"name":"Closing desk","prefix":"dk_live_ab12","abilities":["api:v1"],"created_at":"2026-05-29T04:00:00.000000Z",` +
	`"last_used_at":null,"use_count":0,"expires_at":null,"revoked_at":null}`

func TestGolden(t *testing.T) {
	bare := apitypes.Abstract{ID: "k3Jd82Qz", CreatedAt: created, UpdatedAt: updated}
	full := apitypes.Abstract{
		ID: "k3Jd82Qz", TemplateID: ptr(int64(2)), Status: ptr("Open"), Address: ptr("12 <Elm> & Oak"), City: ptr("Salem"),
		County: ptr("Essex"), State: ptr("MA"), TaxMap: ptr("14-2-7"),
		CustomFields: apitypes.CustomFields{"search_type": json.RawMessage(`"full"`), "fee": json.RawMessage(`1.50`),
			"tags": json.RawMessage(`["a","b"]`)},
		Files: apitypes.List[apitypes.File]{deed()}, CreatedAt: created, UpdatedAt: updated,
	}
	field := apitypes.Field{Key: "search_type", Label: "Search type", Type: "dropdown", Required: true,
		Options: apitypes.List[string]{"full", "two-owner"}}
	key := apitypes.Key{ID: 4, Name: "Closing desk", Prefix: "dk_live_ab12", Abilities: apitypes.List[string]{"api:v1"}, CreatedAt: created}
	const bareJSON = `{"id":"k3Jd82Qz","template_id":null,"status":null,"address":null,"city":null,"county":null,"state":null,` +
		`"tax_map":null,` +
		`"custom_fields":{},"files":[],"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:01.123456Z"}`
	const fieldJSON = `{"key":"search_type","label":"Search type","type":"dropdown","required":true,"options":["full","two-owner"]}`

	for _, row := range []struct {
		name  string
		value any
		want  string
	}{
		{"empty abstract", apitypes.AbstractBody{Data: bare}, `{"data":` + bareJSON + `}`},
		{"abstract with all fields", full,
			`{"id":"k3Jd82Qz","template_id":2,"status":"Open","address":"12 <Elm> & Oak","city":"Salem","county":"Essex",` +
				`"state":"MA","tax_map":"14-2-7","custom_fields":{"fee":1.50,"search_type":"full","tags":["a","b"]},"files":[` + deedJSON + `],` +
				`"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:01.123456Z"}`},
		{"abstract created", apitypes.AbstractCreated{Data: bare}, `{"data":` + bareJSON + `,"errors":[]}`},
		{"abstract created, a file rejected",
			apitypes.AbstractCreated{Data: bare, Errors: apitypes.List[apitypes.FileFailure]{{Filename: "a.exe", Error: "File is empty"}}},
			`{"data":` + bareJSON + `,"errors":[{"filename":"a.exe","error":"File is empty"}]}`},
		{"file", apitypes.FileBody{Data: deed()}, `{"data":` + deedJSON + `}`},
		{"empty file", apitypes.File{CreatedAt: created}, `{"id":0,"filename":"","file_type":"","mime_type":"","page_count":null,"file_size":0,` +
			`"file_size_human":"","folder_id":null,"is_processing":false,"download_url":"","created_at":"2026-05-29T04:00:00.000000Z"}`},
		{"uploaded", apitypes.Uploaded{Success: true, Message: "Files uploaded successfully", Files: apitypes.List[apitypes.File]{deed()}},
			`{"success":true,"message":"Files uploaded successfully","files":[` + deedJSON + `],"errors":[]}`},
		{"empty order", apitypes.OrderBody{Data: apitypes.Order{ID: "Zz9aB31x", OrderNumber: "T-1", Status: "active",
			CreatedAt: created, UpdatedAt: created}},
			`{"data":{"id":"Zz9aB31x","order_number":"T-1","status":"active","due_date":null,"address":null,"city":null,"county":null,` +
				`"state":null,` +
				`"custom_fields":{},"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"}}`},
		{"order with a date", apitypes.Order{DueDate: ptr("2026-06-15"), CreatedAt: created, UpdatedAt: created},
			`{"id":"","order_number":"","status":"","due_date":"2026-06-15","address":null,"city":null,"county":null,"state":null,` +
				`"custom_fields":{},"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"}`},
		{"order fields", apitypes.OrderFields{CoreFields: apitypes.List[apitypes.Field]{{Key: "order_number", Label: "Order #",
			Type: "text", Required: true}}},
			`{"core_fields":[{"key":"order_number","label":"Order #","type":"text","required":true,"options":[]}],"custom_fields":[]}`},
		{"templates", apitypes.AbstractTemplates{Templates: apitypes.List[apitypes.Template]{{ID: 1, Name: "Full search", Default: true,
			CustomFields: apitypes.List[apitypes.Field]{field}}, {ID: 2}}},
			`{"templates":[{"id":1,"name":"Full search","default":true,"custom_fields":[` + fieldJSON +
				`]},{"id":2,"name":"","default":false,"custom_fields":[]}]}`},
		{"no templates", apitypes.AbstractTemplates{}, `{"templates":[]}`},
		{"folders", apitypes.Folders{Folders: apitypes.List[apitypes.Folder]{{ID: 1, Name: "Deeds"},
			{ID: 2, Name: "2026", ParentID: ptr(int64(1))}}},
			`{"folders":[{"id":1,"name":"Deeds","parent_id":null},{"id":2,"name":"2026","parent_id":1}]}`},
		{"no folders", apitypes.Folders{}, `{"folders":[]}`},
		{"folder created", apitypes.FolderCreated{Success: true, Message: "Folder created successfully",
			Folder: apitypes.Folder{ID: 1, Name: "Deeds"}},
			`{"success":true,"message":"Folder created successfully","folder":{"id":1,"name":"Deeds","parent_id":null}}`},
		{"folder", apitypes.FolderBody{Data: apitypes.Folder{ID: 1, Name: "Deeds"}}, `{"data":{"id":1,"name":"Deeds","parent_id":null}}`},
		{"empty page", apitypes.Page[apitypes.Order]{Meta: apitypes.Meta{PerPage: 25}},
			`{"data":[],"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null}}`},
		{"page", apitypes.Page[apitypes.Folder]{Data: apitypes.List[apitypes.Folder]{{ID: 1}},
			Links: apitypes.Links{Next: ptr("http://a/?x=1&cursor=n"), Prev: ptr("p")},
			Meta:  apitypes.Meta{PerPage: 1, NextCursor: ptr("n"), PrevCursor: ptr("q")}},
			`{"data":[{"id":1,"name":"","parent_id":null}],"links":{"next":"http://a/?x=1&cursor=n","prev":"p"},"meta":{"per_page":1,` +
				`"next_cursor":"n","prev_cursor":"q"}}`},
		{"trashed order", apitypes.Trashed{Kind: "order", ID: `"Zz9aB31x"`, Heading: "T-1", DeletedAt: created,
			DeletedBy: apitypes.Actor{Kind: "key", ID: ptr(int64(7)), Name: ptr("Desk")}, RestorableUntil: updated},
			`{"kind":"order","id":"Zz9aB31x","heading":"T-1","deleted_at":"2026-05-29T04:00:00.000000Z","deleted_by":{"kind":"key","id":7,` +
				`"name":"Desk","address":null},"restorable_until":"2026-05-29T04:00:01.123456Z","retained_until":null,"abstract_id":null}`},
		{"trashed file", apitypes.Trashed{Kind: "file", ID: "77", DeletedAt: created, RestorableUntil: created, RetainedUntil: &created,
			AbstractID: ptr("Zz9aB31x")},
			`{"kind":"file","id":77,"heading":"","deleted_at":"2026-05-29T04:00:00.000000Z","deleted_by":{"kind":"","id":null,"name":null,` +
				`"address":null},"restorable_until":"2026-05-29T04:00:00.000000Z","retained_until":"2026-05-29T04:00:00.000000Z",` +
				`"abstract_id":"Zz9aB31x"}`},
		{"error", apitypes.Failure{Message: "Not found."}, `{"message":"Not found."}`},
		{"errors of fields", apitypes.Failure{Message: "z",
			Errors: apitypes.FieldErrors{{"zeta", []string{"z", "y"}}, {"alpha", []string{"<a>"}}}},
			`{"message":"z","errors":{"zeta":["z","y"],"alpha":["<a>"]}}`},
		{"key", key, keyJSON},
		{"key with all times", apitypes.Key{CreatedAt: created, LastUsedAt: &created, ExpiresAt: &created, RevokedAt: &created},
			`{"id":0,"name":"","prefix":"","abilities":[],"created_at":"2026-05-29T04:00:00.000000Z","last_used_at":"2026-05-29T04:00:00.000000Z",` +
				`"use_count":0,"expires_at":"2026-05-29T04:00:00.000000Z","revoked_at":"2026-05-29T04:00:00.000000Z"}`},
		{"key created", apitypes.KeyCreated{Key: "dk_live_x", Data: key}, `{"key":"dk_live_x","data":` + keyJSON + `}`},
		{"key revoked", apitypes.Data[apitypes.Key]{Data: key}, `{"data":` + keyJSON + `}`},
		{"keys", apitypes.Data[apitypes.List[apitypes.Key]]{Data: apitypes.List[apitypes.Key]{key}}, `{"data":[` + keyJSON + `]}`},
		{"key create", apitypes.KeyCreate{Name: "Desk"}, `{"name":"Desk","abilities":[],"expires_at":null}`},
		{"key rotate", apitypes.KeyRotate{OverlapSeconds: 86400}, `{"overlap_seconds":86400}`},
		{"empty status", apitypes.Status{},
			`{"running":false,"started_at":null,"version":"","commit":"","data":"","listen":null,"example":false,"certificate":null,"abstracts":0,"orders":0,` +
				`"files":0,"folders":0,"trashed":0,"bytes":0,"queue":0,"failed":0,"ocr_files":0,"ocr_pages":0,"ocr_reading":[],"ocr_enabled":false,"ocr_resumes_at":null,"disk_free":0,"disk_reserve":0,"read_only":false,` +
				`"last_backup_at":null,"writes_denied":null,"still_works":null,"document_room":0,` +
				`"last_backup":null,"backup_failure":null,"next_backup_at":null,` +
				`"search":{"ready":false,"building":false,"done":null,"total":null,"records":0,"bytes":0,"segments":0,"behind":0,"since":null,` +
				`"error":null},"storage":{"documents":0,"database":0,"previews":0,"texts":0,"search_index":0,"cache":0,"other":0,"complete":false},` +
				`"memory":[],"damaged":[],"scrub":{"every_seconds":0,"started_at":null,"completed_at":null,"progress":0,"age_seconds":0,` +
				`"overdue":false},"upgrade_files":[]}`},
		{"health", apitypes.Health{Status: "ok"}, `{"status":"ok"}`},
		{"verify progress", apitypes.Line[apitypes.Verify]{Progress: &apitypes.Progress{Done: 1, Total: 2, Unit: "bytes"}},
			`{"progress":{"done":1,"total":2,"unit":"bytes"}}`},
		{"repair", apitypes.Verify{OK: true,
			Repaired: &apitypes.Repaired{Done: true, Findings: 1, TasksAdded: 2, TasksRemoved: 3, Leftovers: 4, Orphans: 5}},
			`{"ok":true,"records":0,"files":0,"blobs":0,"bytes":0,"events":0,"orphans":0,"leftovers":0,"search_bytes":0,"search_ready":false,"search_building":false,"findings":[],` +
				`"repaired":{"done":true,"findings":1,"tasks_added":2,"tasks_removed":3,"leftovers":4,"orphans":5}}`},
		{"backup", apitypes.Line[apitypes.Backup]{Result: &apitypes.Backup{Snapshot: "20260529T040000Z", To: "/b", Files: 1, Bytes: 2,
			BytesWritten: 3, Seconds: 0.5, Encrypted: true}},
			`{"result":{"snapshot":"20260529T040000Z","created_at":"0001-01-01T00:00:00.000000Z","to":"/b","files":1,"bytes":2,` +
				`"bytes_written":3,"seconds":0.5,"encrypted":true}}`},
		{"backup failed", apitypes.Line[apitypes.Backup]{Error: "The disk is full.", Status: 507}, `{"error":"The disk is full.","status":507}`},
		{"backup listed", apitypes.BackupListed{Snapshot: "s", Problem: "p"},
			`{"snapshot":"s","created_at":null,"files":0,"bytes":0,"problem":"p","name":null,"version":null,"schema":0}`},
		{"backup verified", apitypes.BackupVerify{OK: true},
			`{"ok":true,"snapshots":0,"blobs":0,"bytes":0,"checksums_only":false,"orphans":0,"leftovers":0,"findings":[]}`},
		{"backups pruned", apitypes.BackupPrune{}, `{"kept":[],"removed":[],"blobs":0,"bytes":0,"dry_run":false}`},
		{"verify result", apitypes.Line[apitypes.Verify]{Result: &apitypes.Verify{OK: true, Records: 1, Files: 2, Blobs: 3, Bytes: 4,
			Events: 5, Orphans: 6, Leftovers: 7}},
			`{"result":{"ok":true,"records":1,"files":2,"blobs":3,"bytes":4,"events":5,"orphans":6,"leftovers":7,"search_bytes":0,"search_ready":false,"search_building":false,"findings":[]}}`},
		{"verify finding", apitypes.Finding{Kind: "blob", Subject: "ab12", Problem: "differs"},
			`{"kind":"blob","subject":"ab12","problem":"differs"}`},
		{"verify error", apitypes.Line[apitypes.Verify]{Error: "Server error."}, `{"error":"Server error."}`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := apitypes.Marshal(row.value)
			if err != nil {
				t.Fatalf("marshal: %v", err)
			}
			if string(got) != row.want {
				t.Fatalf("got\n%s\nwant\n%s", got, row.want)
			}
			// The client decodes into the same types, so a round trip must not lose data.
			back := reflect.New(reflect.TypeOf(row.value))
			if err := json.Unmarshal(got, back.Interface()); err != nil {
				t.Fatalf("unmarshal %s: %v", got, err)
			}
			again, err := apitypes.Marshal(back.Interface())
			if err != nil || string(again) != row.want {
				t.Fatalf("after a round trip, error %v, got\n%s\nwant\n%s", err, again, row.want)
			}
		})
	}
}
