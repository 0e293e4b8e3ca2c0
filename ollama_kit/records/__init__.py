"""What the layers hand around: findings, attempts, evidence and reports, as frozen values. Imports nothing of ours."""
