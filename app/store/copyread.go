package store

import "os"

// OpenCopy opens a database file that nobody else has, such as one out of a backup,
// for reading. Its records are those of the schema it was written with. Close removes
// the file.
func OpenCopy(path string) (c *Copy, err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	err = recoverPanic(func() (err error) {
		c, err = openCopy(path)
		return err
	})
	return c, err
}

// View runs fn on the copy.
func (c *Copy) View(fn func(*Tx) error) error { return c.view(fn) }

// Path is the copy's file.
func (c *Copy) Path() string { return c.path }
