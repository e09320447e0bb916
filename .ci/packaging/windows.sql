-- What wixl can't express of the package of Windows, for msibuild. An empty line ends a statement.

-- Only the service, administrators, and the system have access to the data directory.
-- The SID is that of NT SERVICE\deedkeep.
CREATE TABLE `MsiLockPermissionsEx` (`MsiLockPermissionsEx` CHAR(72) NOT NULL, `LockObject` CHAR(72) NOT NULL,
`Table` CHAR(32) NOT NULL, `SDDLText` CHAR(0) NOT NULL, `Condition` CHAR(255) PRIMARY KEY `MsiLockPermissionsEx`)

INSERT INTO `MsiLockPermissionsEx` (`MsiLockPermissionsEx`, `LockObject`, `Table`, `SDDLText`)
VALUES ('Data', 'DATAFOLDER', 'CreateFolder',
'D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;S-1-5-80-1659962604-3227315687-2318623635-2197091262-3569883495)')

-- Commands find the program and the data directory.
CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE,
`Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)

INSERT INTO `Environment` (`Environment`, `Name`, `Value`, `Component_`)
VALUES ('Path', '=-*PATH', '[~];[INSTALLFOLDER]', 'Program')

INSERT INTO `Environment` (`Environment`, `Name`, `Value`, `Component_`)
VALUES ('Data', '=-*DEEDKEEP_DATA', '[CommonAppDataFolder]deedkeep', 'Data')

INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('RemoveEnvironmentStrings', 3300)

INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('WriteEnvironmentStrings', 5200)

-- Windows restarts the service after a failure: twice after 5 seconds, then after a minute.
CREATE TABLE `MsiServiceConfigFailureActions` (`MsiServiceConfigFailureActions` CHAR(72) NOT NULL,
`Name` CHAR(255) NOT NULL LOCALIZABLE, `Event` INT NOT NULL, `ResetPeriod` LONG, `RebootMessage` CHAR(255) LOCALIZABLE,
`Command` CHAR(255) LOCALIZABLE, `Actions` CHAR(0), `DelayActions` CHAR(0), `Component_` CHAR(72) NOT NULL
PRIMARY KEY `MsiServiceConfigFailureActions`)

INSERT INTO `MsiServiceConfigFailureActions`
(`MsiServiceConfigFailureActions`, `Name`, `Event`, `ResetPeriod`, `Actions`, `DelayActions`, `Component_`)
VALUES ('Service', 'deedkeep', 1, 86400, '1[~]1[~]1', '5000[~]5000[~]60000', 'Program')

INSERT INTO `InstallExecuteSequence` (`Action`, `Condition`, `Sequence`)
VALUES ('MsiConfigureServices', 'VersionMsi >= "5.00"', 5850)
