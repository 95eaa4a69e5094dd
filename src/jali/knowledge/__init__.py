"""What an adversary knows beforehand, one file each."""
