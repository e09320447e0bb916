package vaulttest

import (
	"time"
)

const Day = 24 * time.Hour

const Year = 365 * Day
