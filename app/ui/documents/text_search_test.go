package documents

import (
	"strconv"
	"strings"
	"testing"
)

// Short rows are padded to the length of the longest row. A heading spans all columns.
func TestTableRows(t *testing.T) {
	t.Parallel()
	var m highlighter
	for text, want := range map[string]string{
		"":                                    "",
		"a\n":                                 "a1",
		"Heading\nNo.\tDeed\tPage\n1\tx\n\n":  "Heading3|No.1 Deed1 Page1|1,1 x1 0|3",
		"a\tb\n1\t" + strings.Repeat("é", 25): "a1 b1|1,1 " + strings.Repeat("é", 25) + "1 long",
	} {
		t.Run(text, func(t *testing.T) {
			var lines []string
			for _, row := range m.rows(t.Context(), text) {
				var cells []string
				for _, cell := range row {
					content := ""
					for _, part := range cell.Parts {
						content += part.Text
					}
					if content == "1" {
						content += ","
					}
					if content += strconv.Itoa(cell.Span); cell.Long() {
						content += " long"
					}
					cells = append(cells, content)
				}
				lines = append(lines, strings.Join(cells, " "))
			}
			if got := strings.Join(lines, "|"); got != want {
				t.Errorf("rows(%q) = %s, want %s", text, got, want)
			}
		})
	}
}
