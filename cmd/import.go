package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"deedkeep/app/apitypes"
	"deedkeep/app/backup/archive"
	"deedkeep/app/control"
	"deedkeep/app/importer"
)

// importFlags contains the flags of "deedkeep import".
type importFlags struct {
	folder   string
	report   string
	parallel int
	dry      bool
}

// errRejected means that an import finished but rejected some files.
var errRejected = errors.New("import finished")

// maxParallel is the maximum value of --parallel.
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
		Annotations: missingArg("the folder is missing; it is the one that holds the documents"),
		RunE:        func(cmd *cobra.Command, args []string) error { return s.importTree(cmd.Context(), args[0], f) },
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
	dataDir, _ := os.Stat(c.Data) // nil if there is no data directory
	total, err := importer.Count(ctx, dir, dataDir)
	if err != nil {
		return err
	}
	return s.connect(ctx, true, func(ctx context.Context, c *control.Client) (err error) {
		rejections, err := newRejectionReport(f.report)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, rejections.close()) }()
		progress, finish := s.showProgress("import")
		defer finish()
		i := &importRun{shell: s, client: c, dry: f.dry, rejections: rejections, destination: strings.FieldsFunc(f.folder, func(r rune) bool { return r == '/' }), folders: map[string]targetFolder{}, progress: progress,
			position: apitypes.Progress{Total: int64(total), Unit: "documents"}}
		walkErr := i.run(ctx, dir, dataDir, f.parallel)
		finish()
		return i.finish(walkErr)
	})
}

// checkNotVault returns an error if dir is inside a data directory or a backup directory.
// Their documents are already in a vault.
func checkNotVault(dir string) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for last := ""; path != last; last, path = path, filepath.Dir(path) {
		switch {
		case isFile(filepath.Join(path, "vault.db")) && isFile(filepath.Join(path, "secret.key")):
			return fmt.Errorf("%s is the data directory of a vault: its documents are filed already", path)
		case isFile(filepath.Join(path, archive.HeaderFile)):
			return fmt.Errorf("%s holds the backups of a vault: \"deedkeep restore\" brings them back", path)
		}
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// finish prints the report and returns the error for the exit code. walkErr is the error
// that stopped the import, or nil.
func (i *importRun) finish(walkErr error) error {
	if errors.Is(walkErr, control.ErrNoServer) {
		return walkErr // the server has stopped; connect repeats the import in this process
	}
	i.count.DryRun, i.count.Rejections = i.dry, i.rejections.first
	i.rejections.print(i.shell)
	err := i.shell.print(i.count, "%s\n", summary(i.count))
	switch {
	case walkErr != nil:
		i.shell.messagef("run the same command again to resume where it stopped")
		return errors.Join(walkErr, err)
	case err != nil:
		return err
	case i.count.Rejected+i.count.Unreadable+i.count.Links > 0:
		return fmt.Errorf("%w: %d not imported", errRejected, i.count.Rejected+i.count.Unreadable+i.count.Links)
	}
	return nil
}

// summary returns the report as one line of text.
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
