package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup/archive"
	"deedkeep/app/client"
	"deedkeep/app/control"
	"deedkeep/app/importer"
)

// importFlags are what an import is asked for.
type importFlags struct {
	folder   string
	report   string
	parallel int
	dry      bool
}

// errRejected is an import that finished without some of the files.
var errRejected = errors.New("import finished")

// maxParallel is how many documents are under way at most.
const maxParallel = 32

func (s *shell) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import DIR",
		Short: "File a folder of existing documents, with its folders",
		Long: `File the documents of a folder and of the folders in it. Its folders become folders
of the vault, below --folder or at the top; documents that lie in DIR itself go into
--folder, or into no folder. Each is judged as if it had been uploaded.

It can be stopped at any time and begun again with the same words: a document that
is in its folder already, with its name and the same bytes, is not filed again. What
is in the trash does not count as there.

Skipped and reported with its path: rejected documents, documents in folders that the
vault can't have (more than 32 deep, or a name that is not valid), unreadable files,
and links (never followed). The import continues past them and ends with exit code 4:
finished, some files rejected. Exit code 1 means that it stopped before the end.
Hidden files and what systems leave behind (.DS_Store, Thumbs.db, desktop.ini and the
like) are counted and no fault. DIR itself is only read.`,
		Example: `  deedkeep import "D:\Closed Files" --folder "Closed Files" --dry-run
  deedkeep import /mnt/old-server/abstracts --folder Old/Abstracts --report refused.csv`,
		Args: oneArg("the folder", `it is the one that holds the documents`),
		RunE: func(cmd *cobra.Command, args []string) error { return s.importTree(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.folder, "folder", "", "the folder of the vault, like Old/Abstracts; made where it is missing")
	cmd.Flags().StringVar(&f.report, "report", "", "write what was not filed, and why, to this CSV file")
	cmd.Flags().IntVar(&f.parallel, "parallel", 4, fmt.Sprintf("how many documents at a time, 1 to %d", maxParallel))
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "apply every rule, list what would be rejected, and store nothing")
	return cmd
}

func (s *shell) importTree(ctx context.Context, dir string, f importFlags) error {
	if f.parallel < 1 || f.parallel > maxParallel {
		return &usageError{fmt.Errorf("--parallel: must be 1 to %d", maxParallel)}
	}
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is no folder", dir)
	}
	if err := checkNotVault(dir); err != nil {
		return err
	}
	c, err := s.load()
	if err != nil {
		return err
	}
	if err := s.checkAssets(); err != nil {
		return err
	}
	var avoid os.FileInfo
	if info, err := os.Stat(c.Data); err == nil {
		avoid = info
	}
	total, err := importer.Count(ctx, dir, avoid)
	if err != nil {
		return err
	}
	return s.withClientAndSandbox(ctx, func(ctx context.Context, c *client.Client) (err error) {
		list, err := newRejectionReport(f.report)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, list.close()) }()
		progress, done := s.showProgress("import")
		defer done()
		i := &importRun{shell: s, client: c, dry: f.dry, rejections: list, destination: folderNames(f.folder), folders: map[string]targetFolder{}, progress: progress,
			position: apitypes.Progress{Total: int64(total.Documents), Unit: "documents"}}
		walked := i.run(ctx, dir, avoid, f.parallel)
		done()
		return i.finish(walked)
	})
}

// folderNames are the names of a path of folders; empty ones do not count.
func folderNames(folder string) []string {
	return slices.DeleteFunc(strings.Split(folder, "/"), func(name string) bool { return name == "" })
}

// checkNotVault refuses a folder in which, or in one above it, a vault or its backups are:
// what would be filed there is filed already.
func checkNotVault(dir string) error {
	at, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for last := ""; at != last; last, at = at, filepath.Dir(at) {
		switch {
		case isFile(filepath.Join(at, "vault.db")) && isFile(filepath.Join(at, "secret.key")):
			return fmt.Errorf("%s is the data directory of a vault: its documents are filed already", at)
		case isFile(filepath.Join(at, archive.HeaderFile)):
			return fmt.Errorf("%s holds the backups of a vault: \"deedkeep restore\" brings them back", at)
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// finish says what became of everything; walked is why it ended early.
func (i *importRun) finish(walked error) error {
	if errors.Is(walked, control.ErrNoServer) {
		return walked // the server has gone: all is done once more without it
	}
	i.count.DryRun, i.count.Rejections = i.dry, i.rejections.first
	i.rejections.print(i.shell)
	var err error
	if i.shell.json {
		err = i.shell.printJSON(i.count)
	} else {
		err = i.shell.printf("%s\n", summary(i.count))
	}
	switch {
	case walked != nil:
		i.shell.messagef("run the same command again to resume where it stopped")
		return errors.Join(walked, err)
	case err != nil:
		return err
	case i.count.Rejected+i.count.Unreadable+i.count.Links > 0:
		return fmt.Errorf("%w: %d not imported", errRejected, i.count.Rejected+i.count.Unreadable+i.count.Links)
	}
	return nil
}

// summary is the report in a line.
func summary(r apitypes.ImportReport) string {
	verb := "filed"
	if r.DryRun {
		verb = "to file"
	}
	text := fmt.Sprintf("%d %s (%s)", r.Imported, verb, apitypes.HumanSize(r.Bytes))
	for _, part := range []struct {
		n         int64
		one, many string
	}{
		{r.Existing, "there already", "there already"}, {r.Rejected, "refused", "refused"}, {r.Unreadable, "unreadable", "unreadable"},
		{r.Links, "link or the like, not followed", "links and the like, not followed"},
		{r.Skipped, "hidden, left out", "hidden, left out"}, {r.Folders, "folder made", "folders made"},
	} {
		if part.n > 0 {
			text += ", " + apitypes.Count(part.n, part.one, part.many)
		}
	}
	return text
}
