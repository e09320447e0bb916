package cmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/model"
)

func (s *shell) usersCommand() *cobra.Command {
	return commandGroup("users", "Manage user accounts", "  deedkeep users create \"Kim Lee\" --role staff\n  deedkeep users list",
		s.usersCreate(),
		listCommand(s, "list", "List users, including disabled accounts", "  deedkeep users list --json", (*control.Client).Users, s.printUsers),
		s.usersRole(),
		s.usersProfile(),
		s.usersChange("disable", "Disable an account and sign it out everywhere", (*control.Client).DisableUser),
		s.usersChange("enable", "Re-enable an account", (*control.Client).EnableUser),
		s.usersReset())
}

func (s *shell) usersCreate() *cobra.Command {
	var role string
	var fromStdin bool
	var profile profileFlags
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a user and print a one-time setup link",
		Long: `Create a user and print a one-time setup link. NAME is the username. The user opens the
link within 24 hours to choose a password. With --password-stdin, the command reads the
password from the first line of standard input and prints no link. Search certificates
name the user with --full-name and --title.

Roles: a viewer can search and read. Staff can also upload and change records. An admin
can also manage users, API keys, templates, and backups.`,
		Example: `  deedkeep users create "Kim Lee" --role staff
  deedkeep users create mary --role staff --full-name "Mary Jones" --title "Senior Examiner"
  deedkeep users create admin --role admin --password-stdin < password.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if role == "" {
				return &usageError{errors.New("--role is required: viewer, staff, or admin")}
			}
			draft := apitypes.UserCreate{Name: args[0], Role: role, UserProfile: profile.sent(cmd)}
			if fromStdin {
				password, err := s.readSecret("password")
				if err == nil && password == "" {
					err = &usageError{errors.New("--password-stdin: no password on standard input")}
				}
				if err != nil {
					return err
				}
				draft.Password = &password
			}
			return query(s, cmd, func(c *control.Client, ctx context.Context) (apitypes.UserLinked, error) {
				created, err := c.CreateUser(ctx, draft)
				return created, explainChoices(err, "role", roleNames())
			}, s.printLinked)
		},
	}
	cmd.Flags().StringVar(&role, "role", "", "role: viewer, staff, or admin")
	cmd.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input; print no link")
	profile.add(cmd)
	return cmd
}

// printFirstAdminLink prints the one-time link to create the first administrator. If there
// already is an administrator, it prints nothing.
func (s *shell) printFirstAdminLink(ctx context.Context, v *instance.Instance, origin string) {
	token, err := v.Users.NewFirstLink(ctx)
	switch {
	case err == nil:
		s.messagef("No administrator account yet. Create it within 24 hours at %s%s%s", origin, model.PasswordLinkPath, token)
	case errs.KindOf(err) != errs.Conflict:
		s.messagef("can't create the setup link for the administrator account: %v", message(err))
	}
}

// readSecret reads a line from standard input and returns it without the line ending. On a
// terminal, it prompts with label and doesn't echo the input.
func (s *shell) readSecret(label string) (string, error) {
	if file, ok := s.in.(*os.File); ok && isTerminal(file) {
		s.promptf(" ", "%s:", label)
		line, err := term.ReadPassword(int(file.Fd()))
		fmt.Fprintln(s.messages) //nolint:errcheck // a failed write to standard error can't be reported
		return string(line), err
	}
	return readLine(io.LimitReader(s.in, 2*model.MaxPasswordLength), label)
}

// readLine reads the first line of in and returns it without the line ending.
func readLine(in io.Reader, label string) (string, error) {
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the %s: %w", label, err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"), nil
}

func roleNames() (list []string) {
	for _, role := range model.Roles() {
		list = append(list, string(role))
	}
	return list
}

// printLinked prints the one-time link in created or, if there isn't one, that the user can
// sign in.
func (s *shell) printLinked(created apitypes.UserLinked) error {
	user := created.Data
	if created.Link == "" {
		return s.print(created, "created user %s (ID %d, %s)\n", user.Name, user.ID, user.Role)
	}
	if !s.json {
		s.messagef("send this link to %s privately; it works once, expires %s, and can't be shown again", user.Name, s.formatTime(user.LinkExpiresAt))
	}
	return s.print(created, "%s\n", created.Link)
}

func (s *shell) printUsers(users []apitypes.User) error {
	if len(users) == 0 && !s.json {
		s.messagef(`no users yet; create one with "deedkeep users create NAME --role admin"`)
		return nil
	}
	return printList(s, users, "", "ID\tNAME\tROLE\tTWO-FACTOR\tLAST SEEN\tSTATE\tFULL NAME AND TITLE", func(u apitypes.User) []any {
		twoFactor := "no"
		if u.TwoFactor {
			twoFactor = "yes"
		}
		return []any{u.ID, u.Name, u.Role, twoFactor, s.formatTime(u.LastSeenAt), s.userState(u, time.Now()), profileOf(u)}
	})
}

// profileOf returns the full name and the title of a user.
func profileOf(u apitypes.User) string {
	return oneLine(model.Profile{FullName: u.FullName, Title: u.Title}.String())
}

func (s *shell) userState(u apitypes.User, now time.Time) string {
	switch {
	case u.DisabledAt != nil:
		return "disabled " + s.formatTime(u.DisabledAt)
	case u.HasPassword:
		return "active"
	case u.LinkExpiresAt != nil && now.Before(u.LinkExpiresAt.Time):
		return "invited, link expires " + s.formatTime(u.LinkExpiresAt)
	}
	return "no password and no valid link"
}

func (s *shell) usersRole() *cobra.Command {
	return &cobra.Command{
		Use:   "role NAME viewer|staff|admin",
		Short: "Change a user's role",
		Example: `  deedkeep users role "Kim Lee" admin
  deedkeep users role 3 viewer`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return queryUser(s, cmd, args[0], func(c *control.Client, ctx context.Context, id int64) (apitypes.User, error) {
				user, err := c.SetUserRole(ctx, id, args[1])
				return user, explainChoices(err, "role", roleNames())
			}, func(user apitypes.User) error { return s.print(user, "%s is now %s\n", user.Name, user.Role) })
		},
	}
}

// profileFlags are the flags for the full name and the title of a user.
type profileFlags struct{ fullName, title string }

func (p *profileFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.fullName, "full-name", "", `full name on search certificates, such as "Mary Jones"`)
	cmd.Flags().StringVar(&p.title, "title", "", `job title on search certificates, such as "Senior Examiner"`)
}

// sent returns the flags that were set.
func (p *profileFlags) sent(cmd *cobra.Command) (profile apitypes.UserProfile) {
	if cmd.Flags().Changed("full-name") {
		profile.FullName = &p.fullName
	}
	if cmd.Flags().Changed("title") {
		profile.Title = &p.title
	}
	return profile
}

func (s *shell) usersProfile() *cobra.Command {
	var profile profileFlags
	cmd := &cobra.Command{
		Use:   "profile NAME",
		Short: "Change the full name and title of a user",
		Long: `Change the full name and title of a user. Search certificates name the user with them.
A flag that you leave out changes nothing, and "" clears the field.`,
		Example: `  deedkeep users profile mary --full-name "Mary Jones" --title "Senior Examiner"
  deedkeep users profile 3 --title ""`,
		RunE: func(cmd *cobra.Command, args []string) error {
			sent := profile.sent(cmd)
			if sent == (apitypes.UserProfile{}) {
				return &usageError{errors.New("--full-name or --title is required")}
			}
			return queryUser(s, cmd, args[0], func(c *control.Client, ctx context.Context, id int64) (apitypes.User, error) {
				return c.SetUserProfile(ctx, id, sent)
			}, func(user apitypes.User) error {
				return s.print(user, "%s is %s\n", user.Name, cmp.Or(profileOf(user), "not named"))
			})
		},
	}
	profile.add(cmd)
	return cmd
}

// usersChange returns the command "users disable" or "users enable". change makes the
// change.
func (s *shell) usersChange(command, short string, change func(*control.Client, context.Context, int64) (apitypes.User, error)) *cobra.Command {
	return &cobra.Command{
		Use:     command + " NAME",
		Short:   short,
		Example: fmt.Sprintf("  deedkeep users %s \"Kim Lee\"\n  deedkeep users %s 3", command, command),
		RunE: func(cmd *cobra.Command, args []string) error {
			return queryUser(s, cmd, args[0], change, func(user apitypes.User) error {
				if command == "enable" && !user.HasPassword && !s.json {
					s.messagef("this user has no password; create a setup link with \"deedkeep users reset %d\"", user.ID)
				}
				return s.print(user, "%sd %s\n", command, user.Name)
			})
		},
	}
}

func (s *shell) usersReset() *cobra.Command {
	var twoFactor bool
	cmd := &cobra.Command{
		Use:   "reset NAME",
		Short: "Reset a user's password and two-factor authentication",
		Long: `Reset a user's password and two-factor authentication. All sessions of the user end. The
command prints a one-time link that the user opens within 24 hours to choose a new
password.

With --two-factor, the password stays, and there is no link: the user signs in with the
password alone and can set up two-factor authentication again. Use it for a lost phone.`,
		Example: `  deedkeep users reset "Kim Lee"
  deedkeep users reset 3 --two-factor`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !twoFactor {
				return queryUser(s, cmd, args[0], (*control.Client).ResetUser, s.printLinked)
			}
			return queryUser(s, cmd, args[0], (*control.Client).ResetUserTwoFactor, func(user apitypes.User) error {
				return s.print(user, "turned off two-factor authentication for %s\n", user.Name)
			})
		},
	}
	cmd.Flags().BoolVar(&twoFactor, "two-factor", false, "reset only two-factor authentication; keep the password")
	return cmd
}

// queryUser is like query for the user with the given name. If there is no such user, it
// parses nameOrID as an ID.
func queryUser[T any](s *shell, cmd *cobra.Command, nameOrID string, get func(*control.Client, context.Context, int64) (T, error), show func(T) error) error {
	return query(s, cmd, func(c *control.Client, ctx context.Context) (none T, err error) {
		users, err := c.Users(ctx)
		if err != nil {
			return none, err
		}
		id, err := strconv.ParseInt(nameOrID, 10, 64)
		if i := slices.IndexFunc(users, func(u apitypes.User) bool { return model.Fold(u.Name) == model.Fold(nameOrID) }); i >= 0 {
			id = users[i].ID
		} else if err != nil || id <= 0 {
			return none, fmt.Errorf("user %s not found; list users with \"deedkeep users list\"", nameOrID)
		}
		result, err := get(c, ctx, id)
		return result, explainNotFound(err, "user", nameOrID)
	}, show)
}
