#!/bin/sh
set -e
# dpkg passes "remove" and then "purge", rpm the number of versions that stay.
if [ "$1" = purge ]; then
	rm -f /etc/systemd/system/multi-user.target.wants/deedkeep.service
fi
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
case "$1" in
purge | 0)
	if [ -d /var/lib/deedkeep ]; then
		echo "deedkeep: the records and documents in /var/lib/deedkeep stay, and so does the account deedkeep that owns them"
	fi
	;;
esac
