package page

import "testing"

func TestUndoPattern(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/abstracts/a1B2/status?status=In+Exam&was=New": false, "/abstracts/a1B2/order-link?order=&version=2": true,
		"/undo?part=&record=abstract%3Aa1B2&version=2": true, "/undo?again=1&part=&record=abstract%3Aa1B2&version=2": true,
		"/vault/7/move?parent=0": true, "/documents/move?file=1&file=2&from=0&to=7": true,
		"/abstracts/a1B2/status": false, "/orders/a1B2/trash?status=x": false, "/documents/trash?file=1": false,
		"/vault/7/remove?x=1": false, "/documents/move?file=1#x": false,
		"/documents/move?file=1\n": false, "/vault/../admin/move?x=1": false, "//documents/move?x=1": false,
		"/abstracts/a1B2/restore": true, "/orders/a1B2/restore": true, "/documents/7/restore": true, "/abstracts/a1B2/documents/7/restore": true,
		"/admin/users/2/disable?x=/restore": false, "/abstracts/a1/trash?/restore": false, "/abstracts/a1/trash#/restore": false,
		"/abstracts/../admin/restore": false, "//x/restore": false, "/abstracts/a/restore\n": false, "/restore": false, "": false,
		"/admin/backups/restore": false, "/abstracts/a%2f/restore": false,
	} {
		t.Run(path, func(t *testing.T) {
			if got := undoPattern.MatchString(path); got != want {
				t.Errorf("undoPattern matches %q = %t, want %t", path, got, want)
			}
		})
	}
}
