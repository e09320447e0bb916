#!/bin/sh
set -e
# dpkg passes "remove", rpm the number of versions that stay. After dpkg's "remove", the service stays enabled, so that
# it starts if the package is installed again.
if [ -d /run/systemd/system ]; then
	case "$1" in
	remove) systemctl stop deedkeep.service ;;
	0) systemctl disable --now deedkeep.service ;;
	esac
fi
