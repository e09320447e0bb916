package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	library "github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

// windowsService manages a service of Windows. The library creates, starts, stops, and deletes it, together with its
// source of the Event Log. It can't change one, and knows only one delay for all restarts.
type windowsService struct {
	name   string
	report Report
}

const (
	description = "Orders, title abstracts, and documents of a title firm"
	startWait   = 15 * time.Minute // of a server that recovers after a power failure
	pollEvery   = 200 * time.Millisecond
)

// New returns the manager of the service with this name.
func New(name string, report Report) (Manager, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return &windowsService{name: name, report: report}, nil
}

// restarts are what Windows does after the first, the second, and every other failure within a day.
var restarts = []mgr.RecoveryAction{
	{Type: mgr.ServiceRestart, Delay: 5 * time.Second}, {Type: mgr.ServiceRestart, Delay: 5 * time.Second},
	{Type: mgr.ServiceRestart, Delay: time.Minute},
}

const restartsReset = 24 * 60 * 60 // seconds

// open opens the service with the given rights. s is nil if there is no such service.
func (w *windowsService) open(access uint32) (s *mgr.Service, err error) {
	manager, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, windows.CloseServiceHandle(manager)) }()
	name, err := windows.UTF16PtrFromString(w.name)
	if err != nil {
		return nil, err
	}
	handle, err := windows.OpenService(manager, name, access)
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the service %s: %w", w.name, err)
	}
	return &mgr.Service{Name: w.name, Handle: handle}, nil
}

func (w *windowsService) State(context.Context) (state State, err error) {
	state = State{Manager: "windows"}
	s, err := w.open(windows.SERVICE_QUERY_CONFIG | windows.SERVICE_QUERY_STATUS)
	if err != nil || s == nil {
		return state, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	config, err := queryConfig(s)
	if err != nil {
		return state, fmt.Errorf("read the service %s: %w", w.name, err)
	}
	status, err := s.Query()
	if err != nil {
		return state, err
	}
	args, err := windows.DecomposeCommandLine(windows.UTF16PtrToString(config.BinaryPathName))
	if err != nil {
		return state, err
	}
	if !slices.Contains(args, "serve") {
		return state, fmt.Errorf("the service %s is not one for deedkeep; choose another name with --name", w.name)
	}
	state.readArguments(args)
	state.Installed, state.Account = true, windows.UTF16PtrToString(config.ServiceStartName)
	state.Running, state.Enabled = status.State == svc.Running, config.StartType == mgr.StartAutomatic
	return state, nil
}

// queryConfig returns the configuration of a service. Unlike mgr, it doesn't ask for what Wine lacks.
func queryConfig(s *mgr.Service) (*windows.QUERY_SERVICE_CONFIG, error) {
	for size := uint32(1024); ; {
		buffer := make([]uint64, size/8+1)
		config := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buffer[0])) // #nosec G103 -- as the function requires
		err := windows.QueryServiceConfig(s.Handle, config, size, &size)
		if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) {
			return config, err
		}
	}
}

// requireAdministrator returns an error if this process can't change services.
func (w *windowsService) requireAdministrator() error {
	if !windows.GetCurrentProcessToken().IsElevated() {
		return errors.New("only administrators can change services; run the command in a window opened as administrator")
	}
	return nil
}

// require returns an error if the service isn't installed or this process can't change it.
func (w *windowsService) require(ctx context.Context) error {
	if err := w.requireAdministrator(); err != nil {
		return err
	}
	state, err := w.State(ctx)
	if err == nil && !state.Installed {
		err = errNotInstalled(w.name)
	}
	return err
}

// library returns the service with what the library needs to create it.
func (w *windowsService) library(o Options) (library.Service, error) {
	return library.New(nil, &library.Config{
		Name: w.name, DisplayName: w.name, Description: description, UserName: o.User, Executable: o.Program, Arguments: o.arguments(),
	})
}

func (w *windowsService) Install(ctx context.Context, o Options) error {
	if err := errors.Join(w.requireAdministrator(), o.check()); err != nil {
		return err
	}
	state, err := w.State(ctx)
	if err != nil {
		return err
	}
	if w.packaged() {
		if o.Flags {
			return fmt.Errorf("a package installed the service %s, and its settings are in %s; leave out --user, --data, and --config, "+
				"or choose another name with --name", w.name, `%ProgramData%\deedkeep\config.yaml`)
		}
		w.report.already("a package already installed the service %s", w.name)
		return errors.Join(w.enable(state), w.Start(ctx))
	}
	if o.User == "" {
		if o.User = state.Account; o.User == "" {
			o.User = `NT SERVICE\` + w.name
		}
	}
	if err := w.prepareData(o); err != nil {
		return err
	}
	same := state.Installed && state.Program == o.Program && state.Data == o.Data && state.Config == o.Config &&
		strings.EqualFold(state.Account, o.User)
	if err := w.write(o, state.Installed, same); err != nil {
		return err
	}
	if err := w.enable(state); err != nil {
		return err
	}
	if state.Running && !same {
		return w.Restart(ctx)
	}
	return w.Start(ctx)
}

// write creates the service, or changes an existing one.
func (w *windowsService) write(o Options, exists, same bool) (err error) {
	if same {
		w.report.already("the service %s is already as asked", w.name)
		return nil
	}
	if !exists {
		s, err := w.library(o)
		if err != nil {
			return err
		}
		if err := s.Install(); err != nil {
			return fmt.Errorf("create the service: %w", err)
		}
	}
	s, err := w.open(windows.SERVICE_ALL_ACCESS)
	if err != nil || s == nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if exists {
		command := windows.ComposeCommandLine(append([]string{o.Program}, o.arguments()...))
		config := mgr.Config{ServiceType: windows.SERVICE_WIN32_OWN_PROCESS, StartType: mgr.StartAutomatic, ErrorControl: mgr.ErrorNormal,
			BinaryPathName: command, ServiceStartName: o.User, DisplayName: w.name, Description: description}
		if err := s.UpdateConfig(config); err != nil {
			return fmt.Errorf("change the service: %w", err)
		}
	}
	if err := s.SetRecoveryActions(restarts, restartsReset); err != nil {
		return fmt.Errorf("set the restarts after failures: %w", err)
	}
	w.report.did("wrote the service %s: %s runs as %s, starts with the computer, and again after a failure", w.name,
		windows.ComposeCommandLine(append([]string{o.Program}, o.arguments()...)), o.User)
	return nil
}

// packaged reports whether a package of Windows installed the service.
func (w *windowsService) packaged() bool {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `Software\deedkeep`, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	_, _, err = key.GetStringValue("Data")
	return errors.Join(err, key.Close()) == nil && w.name == DefaultName
}

// setStart says whether Windows starts the service.
func (w *windowsService) setStart(kind uint32) (err error) {
	s, err := w.open(windows.SERVICE_CHANGE_CONFIG)
	if err != nil || s == nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return windows.ChangeServiceConfig(s.Handle, windows.SERVICE_NO_CHANGE, kind, windows.SERVICE_NO_CHANGE, nil, nil, nil, nil, nil, nil, nil)
}

// enable makes a disabled service start with the computer.
func (w *windowsService) enable(state State) error {
	if !state.Installed || state.Enabled {
		return nil
	}
	if err := w.setStart(windows.SERVICE_AUTO_START); err != nil {
		return err
	}
	w.report.did("enabled %s: it starts with the computer", w.name)
	return nil
}

// prepareData creates the data directory, and gives access to it only to the account of the service,
// SYSTEM (SY), and Administrators (BA). Files in it inherit that.
func (w *windowsService) prepareData(o Options) error {
	sid := SID(w.name)
	if !strings.EqualFold(o.User, `NT SERVICE\`+w.name) {
		account, _, _, err := windows.LookupSID("", o.User)
		if err != nil {
			return fmt.Errorf("find the account %s: %w", o.User, err)
		}
		sid = account.String()
	}
	descriptor, err := windows.SecurityDescriptorFromString("D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + sid + ")")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Data, 0o700); err != nil {
		return err
	}
	now, err := windows.GetNamedSecurityInfo(o.Data, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err == nil && now.String() == descriptor.String() {
		w.report.already("%s already has access to %s", o.User, o.Data)
		return nil
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		return err
	}
	err = windows.SetNamedSecurityInfo(o.Data, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, list, nil)
	if err != nil {
		return fmt.Errorf("give %s access to %s: %w", o.User, o.Data, err)
	}
	w.report.did("gave access to %s to %s, SYSTEM, and Administrators only", o.Data, o.User)
	return nil
}

func (w *windowsService) Uninstall(ctx context.Context) error {
	if err := w.requireAdministrator(); err != nil {
		return err
	}
	state, err := w.State(ctx)
	if err != nil {
		return err
	}
	if !state.Installed {
		w.report.already("no service %s is installed", w.name)
		return nil
	}
	if err := w.Stop(ctx); err != nil {
		return err
	}
	if w.packaged() {
		if state.Enabled {
			if err := w.setStart(windows.SERVICE_DISABLED); err != nil {
				return err
			}
			w.report.did("disabled %s: it doesn't start with the computer", w.name)
		}
		w.report.already("the service %s belongs to a package; to remove the program, use Installed apps in the settings of Windows", w.name)
		return nil
	}
	s, err := w.library(Options{})
	if err != nil {
		return err
	}
	if err := s.Uninstall(); err != nil {
		return fmt.Errorf("delete the service: %w", err)
	}
	w.report.did("deleted the service %s", w.name)
	w.report.already("the data stays in %s", state.Data)
	return nil
}

// query returns the state of the service in the service manager.
func (w *windowsService) query() (state svc.State, err error) {
	s, err := w.open(windows.SERVICE_QUERY_STATUS)
	if err != nil || s == nil {
		return svc.Stopped, err
	}
	status, err := s.Query()
	return status.State, errors.Join(err, s.Close())
}

func (w *windowsService) Start(ctx context.Context) error {
	if err := w.require(ctx); err != nil {
		return err
	}
	state, err := w.query()
	if err != nil {
		return err
	}
	if state == svc.Running {
		w.report.already("%s is already running", w.name)
		return nil
	}
	if state == svc.Stopped {
		s, err := w.library(Options{})
		if err != nil {
			return err
		}
		if err := s.Start(); err != nil {
			return fmt.Errorf("start the service: %w", err)
		}
	}
	for deadline := time.Now().Add(startWait); ctx.Err() == nil; time.Sleep(pollEvery) {
		switch state, err := w.query(); {
		case err != nil:
			return err
		case state == svc.Running:
			w.report.did("started %s", w.name)
			return nil
		case state == svc.Stopped, time.Now().After(deadline):
			return fmt.Errorf("the server didn't start; the reason is in the Event Log: deedkeep service logs%s", nameFlag(w.name))
		}
	}
	return ctx.Err()
}

func (w *windowsService) Stop(ctx context.Context) error {
	if err := w.require(ctx); err != nil {
		return err
	}
	state, err := w.query()
	if err != nil {
		return err
	}
	if state == svc.Stopped {
		w.report.already("%s is already stopped", w.name)
		return nil
	}
	s, err := w.library(Options{})
	if err != nil {
		return err
	}
	if err := s.Stop(); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	w.report.did("stopped %s", w.name)
	return nil
}

func (w *windowsService) Restart(ctx context.Context) error {
	if err := w.Stop(ctx); err != nil {
		return err
	}
	return w.Start(ctx)
}

func (w *windowsService) Logs(lines int, follow bool) ([]string, error) {
	if follow {
		return nil, errors.New("can't print new events as they come on Windows; leave out --follow, or use the Event Viewer")
	}
	return []string{"wevtutil", "query-events", "Application", "/query:*[System[Provider[@Name='" + w.name + "']]]",
		"/count:" + strconv.Itoa(lines), "/reversedirection:true", "/format:text"}, nil
}
